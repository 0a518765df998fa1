// Before anything is painted: dark or light, where the viewer has chosen. Else the system's choice holds.
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
      return "";  // Storage is off: the choice holds until the page is left.
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
        // The browser may refuse to keep it.
      }
      document.dispatchEvent(new Event("themechange"));
    });
  });
})();
