"""Draws the screen of a terminal as an SVG picture, in the colours of one with a dark background."""
import html

# These sizes of the picture are in pixels.
CHAR_WIDTH, LINE_HEIGHT, FONT_SIZE, MARGIN = 8.4, 18, 14, 14
BACKGROUND, FOREGROUND = "#16181d", "#d6d9df"
COLOURS = {"default": FOREGROUND, "black": "#5b6270", "red": "#ef7f7f", "green": "#7fcf8f", "brown": "#e0c070",
           "blue": "#7faff0", "magenta": "#cf9fe0", "cyan": "#70c8cf", "white": "#ffffff"}


def runs(row, columns):
    """Returns (column, text, colour, bold) of each stretch of cells that look the same."""
    found = []
    for column in range(columns):
        cell = row[column]
        look = (COLOURS.get(cell.fg, f"#{cell.fg}"), cell.bold)
        if found and found[-1][2:] == look:
            found[-1] = (*found[-1][:1], found[-1][1] + cell.data, *look)
        else:
            found.append((column, cell.data, *look))
    return [run for run in found if run[1].strip()]


def svg(screen, title):
    """Returns the picture of a pyte screen without its empty last lines. `title` describes it in words."""
    rows = max((y for y, line in enumerate(screen.display) if line.strip()), default=0) + 1
    width, height = screen.columns * CHAR_WIDTH + 2 * MARGIN, rows * LINE_HEIGHT + 2 * MARGIN
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" role="img">',
             f"<title>{html.escape(title)}</title>",
             f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>',
             '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
             f'font-size="{FONT_SIZE}" '
             'style="white-space: pre" xml:space="preserve">']
    for y in range(rows):
        for column, text, colour, bold in runs(screen.buffer[y], screen.columns):
            # The block characters of a bar or a curve leave no gaps only if each stretch of text is as wide as its
            # cells.
            lines.append(f'<text x="{MARGIN + column * CHAR_WIDTH:.1f}" y="{MARGIN + (y + 0.8) * LINE_HEIGHT:.1f}" '
                         f'textLength="{len(text) * CHAR_WIDTH:.1f}" lengthAdjust="spacingAndGlyphs" fill="{colour}"'
                         f'{" font-weight=" + chr(34) + "bold" + chr(34) if bold else ""}>{html.escape(text)}</text>')
    return "\n".join([*lines, "</g>", "</svg>", ""])
