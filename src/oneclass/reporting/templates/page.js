"use strict";
(() => {
  const { steps } = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("flagged");
  const body = table && table.tBodies[0];
  const rows = body ? Array.from(body.rows) : [];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const filter = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const slider = document.getElementById("budget");
  const own = steps.findIndex((step) => step.own);
  let flagged = rows.filter((row) => !row.hidden).length;

  function showRows() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, i) => {
      const visible = Number(row.dataset.rank) < flagged && words.every((word) => texts[i].includes(word));
      row.hidden = !visible;
      count += visible;
    });
    const all = steps.length ? steps[Number(slider.value)].count : flagged.toLocaleString("en");
    shown.textContent = count.toLocaleString("en") + " of " + all + " flagged rows shown" +
      (flagged > rows.length ? "; this file holds the " + rows.length.toLocaleString("en") + " most unusual" : "");
  }

  function showStep() {
    const step = steps[Number(slider.value)];
    flagged = step.flagged;
    document.getElementById("delta").textContent = step.delta;
    slider.setAttribute("aria-valuetext", step.delta + ", " + step.count + " rows flagged");
    document.querySelectorAll("[data-step]").forEach((place) => { place.textContent = step[place.dataset.step]; });
    document.querySelectorAll(".scores rect").forEach((bar, i) => bar.classList.toggle("alarm", i >= step.bar));
    document.getElementById("own").disabled = step.own;
    if (rows.length) showRows();
  }

  function compare(a, b) {
    if (a === "" || b === "") return (a === "") - (b === "");
    const numbers = [Number(a), Number(b)];
    return numbers.some(Number.isNaN) ? a.localeCompare(b, "en", { numeric: true }) : numbers[0] - numbers[1];
  }

  function sortBy(button) {
    const head = button.closest("th");
    const place = Number(button.dataset.sort);
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    table.querySelectorAll("th[aria-sort]").forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const key = (row) => row.cells[place].dataset.key ?? "";
    const order = Array.from(body.rows).sort(
      (a, b) => sign * compare(key(a), key(b)) || Number(a.dataset.rank) - Number(b.dataset.rank));
    body.append(...order);
  }

  if (slider) {
    slider.addEventListener("input", showStep);
    document.getElementById("own").addEventListener("click", () => {
      slider.value = own;
      showStep();
      slider.focus();
    });
  }
  if (table) {
    filter.addEventListener("input", showRows);
    table.querySelectorAll("button[data-sort]").forEach((button) =>
      button.addEventListener("click", () => sortBy(button)));
  }
})();
