"use strict";
(() => {
  const table = document.querySelector("table.races"), body = table.tBodies[0], filter = document.getElementById("filter");
  document.documentElement.classList.add("scripted");
  const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const sort = (header, column) => {
    const down = header.getAttribute("aria-sort") === "ascending", number = header.classList.contains("number");
    const rows = [...body.rows].sort((a, b) => {
      const x = value(a, column), y = value(b, column), order = number ? x - y : x.localeCompare(y);
      return down ? -order : order;
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  };
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    button.addEventListener("click", () => sort(header, column));
    header.replaceChildren(button);
  });
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase(), shown = words.every((word) => text.includes(word));
      row.hidden = !shown;
      document.getElementById(row.dataset.race).hidden = !shown;
    }
  });
})();
