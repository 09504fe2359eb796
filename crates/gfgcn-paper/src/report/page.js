"use strict";
// The page is complete without this script, which only sorts tables and switches between light and dark.
(() => {
  const root = document.documentElement;

  // Storage may be forbidden, as for some local files; then the choice lasts as long as the page.
  const remembered = () => {
    try {
      return localStorage.getItem("gfgcn-theme");
    } catch {
      return null;
    }
  };
  const remember = (theme) => {
    try {
      localStorage.setItem("gfgcn-theme", theme);
    } catch {
      // Nothing is lost but the memory of it.
    }
  };

  // Before the page is drawn, so that it does not flash.
  const chosen = remembered();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  const prepareTheme = (button) => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const label = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.title = `Switch to ${isDark() ? "light" : "dark"}`;
    };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember(root.dataset.theme);
      label();
    });
    system.addEventListener("change", label);
    label();
    button.hidden = false;
  };

  // Numbers by size, names as people order them, missing values last in both directions.
  const compare = (a, b, sign) => {
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    const [x, y] = [Number(a), Number(b)];
    if (!Number.isNaN(x) && !Number.isNaN(y)) return sign * (x - y);
    return sign * a.localeCompare(b, "en", { numeric: true });
  };

  const sort = (heading) => {
    const column = heading.cellIndex;
    const headings = heading.parentElement.cells;
    const opposite = { ascending: "descending", descending: "ascending" };
    const direction = opposite[heading.getAttribute("aria-sort")] || heading.dataset.first;
    for (const other of headings) {
      other.setAttribute("aria-sort", other === heading ? direction : "none");
    }
    const sign = direction === "ascending" ? 1 : -1;
    const body = heading.closest("table").tBodies[0];
    const value = (row) => row.cells[column].dataset.value;
    body.append(...Array.from(body.rows).sort((a, b) => compare(value(a), value(b), sign)));
  };

  document.addEventListener("DOMContentLoaded", () => {
    prepareTheme(document.getElementById("theme"));
    for (const heading of document.querySelectorAll("thead th")) {
      heading.querySelector("button").addEventListener("click", () => sort(heading));
    }
  });
})();
