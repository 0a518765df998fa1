// Sets the dark or the light theme before anything is painted, if the viewer has chosen one. Otherwise the page has the
// theme of the system.
(() => {
  const KEY = "rekindle-theme";
  const apply = (theme) => {
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  const kept = () => {
    try {
      return localStorage.getItem(KEY) || "";
    } catch {
      // The browser allows no storage, so the viewer's choice of a theme is lost when the page is left.
      return "";
    }
  };
  apply(kept());
  document.addEventListener("DOMContentLoaded", () => {
    const select = document.getElementById("theme");
    select.value = kept();
    select.addEventListener("change", () => {
      apply(select.value);
      try {
        localStorage.setItem(KEY, select.value);
      } catch {
        // The browser may refuse to store the viewer's choice of a theme.
      }
      document.dispatchEvent(new Event("themechange"));
    });
  });
})();
