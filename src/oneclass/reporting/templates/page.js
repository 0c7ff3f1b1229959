"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { steps, rows, names, labels, groups, cards } = data;
  const [ROW, LABELS, RARITY, RARE, GROUP, SPAN, REASONS, MARKS] = [0, 1, 2, 3, 4, 5, 6, 7];
  const PAGE = 100;
  const byId = (id) => document.getElementById(id);
  const table = byId("flagged"), body = table && table.tBodies[0];
  const slider = byId("budget");
  const own = steps.findIndex((step) => step.own);
  const state = { flagged: data.flagged, limit: PAGE, sort: null, sign: 1, group: null, words: [] };
  const texts = rows.map((row) => [
    row[ROW], ...row[LABELS], row[RARITY],
    ...row[REASONS].map(([name, value, expected]) => [names[name], value, expected].join(" ")),
  ].join(" ").toLowerCase());
  const percent = (share) => (100 * share).toLocaleString("en", { maximumSignificantDigits: share < 0.1 ? 2 : 3 }) + "\u00a0%";
  const count = (n) => n.toLocaleString("en");

  function element(kind, text, head) {
    const made = document.createElement(kind);
    made.textContent = text;
    if (head) made.dataset.head = head;
    return made;
  }

  function svg(kind, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  }

  function cellsOf(row) {
    const first = element("th", count(row[ROW]), "Row");
    first.scope = "row";
    const made = [first, ...row[LABELS].map((label, i) => {
      const cell = element("td", label, labels[i]), mark = row[MARKS]?.[i];
      if (mark !== undefined) {
        cell.className = "wrong";
        if (mark) cell.append(element("small", "expected " + mark));
      }
      return cell;
    }), element("td", row[RARITY], data.rarity)];
    if (!data.explained) return made;
    const [reason, ...others] = row[REASONS];
    const [name, value, expected, share] = reason ?? [null, "", "", null];
    made.push(element("td", name === null ? "" : names[name], "Column"), element("td", value, "Value"));
    made.push(element("td", expected, "Expected"), element("td", share === null ? "" : percent(share), "Share"));
    const rest = element("td", "", "Other columns");
    rest.append(...others.map((other) => element(
      "span", names[other[0]] + ": " + other[1] + (other[2] ? ", expected " + other[2] : ""))));
    return [...made, rest];
  }

  function keyOf(i, place) {
    const row = rows[i], after = place - 1 - labels.length;
    if (place === 0) return row[ROW];
    if (after < 0) return row[LABELS][place - 1];
    if (after === 0) return i;
    const reason = row[REASONS][0];
    return reason ? [names[reason[0]], ...reason.slice(1)][after - 1] : "";
  }

  function compare(a, b) {
    if (a === "" || b === "") return (a === "") - (b === "");
    const numbers = [a, b].map((text) => Number(String(text).split(" to ")[0].replaceAll(",", "")));
    return numbers.some(Number.isNaN) ? String(a).localeCompare(String(b), "en", { numeric: true }) : numbers[0] - numbers[1];
  }

  function chosen() {
    const some = [];
    for (let i = 0; i < Math.min(state.flagged, rows.length); i++) {
      if (state.group !== null && rows[i][GROUP] !== state.group) continue;
      if (state.words.every((word) => texts[i].includes(word))) some.push(i);
    }
    if (state.sort !== null) {
      some.sort((a, b) => state.sign * compare(keyOf(a, state.sort), keyOf(b, state.sort)) || a - b);
    }
    return some;
  }

  function showRows() {
    if (!table) return;
    const some = chosen();
    body.replaceChildren(...some.slice(0, state.limit).map((i) => {
      const line = document.createElement("tr");
      line.append(...cellsOf(rows[i]));
      return line;
    }));
    byId("more").hidden = some.length <= state.limit;
    byId("every").hidden = state.group === null;
    byId("shown").textContent = count(some.length) + " of " + count(state.flagged) + " " + data.noun +
      (state.group === null ? "" : ": " + groups[state.group]) +
      (state.flagged > rows.length ? "; this file holds the " + count(rows.length) + " most unusual" : "");
  }

  function showGroups() {
    const counts = groups.map(() => 0);
    rows.slice(0, state.flagged).forEach((row) => { if (row[GROUP] !== null) counts[row[GROUP]] += 1; });
    const most = Math.max(1, ...counts);
    document.querySelectorAll("#groups-table [data-group]").forEach((line) => {
      const n = counts[Number(line.dataset.group)];
      line.hidden = n === 0;
      line.querySelector("[data-count]").textContent = count(n);
      line.querySelector("rect").setAttribute("width", (100 * n) / most);
    });
  }

  function showTimes(isOwn) {
    const chart = document.querySelector("svg.times");
    if (!chart) return;
    const bars = chart.querySelectorAll("rect"), lines = chart.querySelectorAll("line");
    const counts = isOwn ? data.flagged_by_span : Array.from(bars, () => 0);
    if (!isOwn) rows.slice(0, state.flagged).forEach((row) => { if (row[SPAN] !== null) counts[row[SPAN]] += 1; });
    const scale = steps[Number(slider.value)].rate_of_own;
    const expected = Array.from(lines, (line) => Number(line.dataset.count) * scale);
    const top = 1.05 * Math.max(1, ...counts, ...expected);
    bars.forEach((bar, i) => {
      bar.setAttribute("height", (100 * counts[i]) / top);
      bar.setAttribute("y", 100 - (100 * counts[i]) / top);
    });
    lines.forEach((line, i) => ["y1", "y2"].forEach((end) => line.setAttribute(end, 100 - (100 * expected[i]) / top)));
  }

  function showCard(card) {
    const { shares, places, texts: said, sort } = cards[Number(card.dataset.card)];
    const n = Math.min(state.flagged, shares.length), some = [...Array(n).keys()];
    const largest = rows.slice(0, state.flagged).filter(
      (row) => row[REASONS].length && names[row[REASONS][0][0]] === card.dataset.column).length;
    card.querySelector("[data-mean]").textContent = n ? percent(some.reduce((sum, i) => sum + shares[i], 0) / n) : "0\u00a0%";
    card.querySelector("[data-largest]").textContent = count(largest) + (largest === 1 ? " row" : " rows");
    const marks = card.querySelector(".marks"), range = card.querySelector("[data-range]");
    if (marks) {
      const distinct = new Set(some.map((i) => places[i]).filter((place) => place !== null));
      marks.replaceChildren(...Array.from(distinct, (x) => svg("line", { class: "flagged", x1: x, x2: x, y1: 4, y2: 16 })));
    }
    if (range) {
      const known = some.filter((i) => sort[i] !== null).sort((a, b) => sort[a] - sort[b]);
      const ends = [said[known[0]], said[known[known.length - 1]]];
      range.textContent = known.length ? (ends[0] === ends[1] ? ends[0] : ends.join(" to ")) : "none";
    }
    card.querySelectorAll("[data-value]").forEach((cell) => {
      const known = some.filter((i) => said[i] !== "missing");
      const share = known.length ? known.filter((i) => said[i] === cell.dataset.value).length / known.length : 0;
      cell.querySelector("span").textContent = percent(share);
      cell.querySelector("rect").setAttribute("width", 100 * share);
    });
  }

  function showStep() {
    const step = steps[Number(slider.value)];
    Object.assign(state, { flagged: step.flagged, limit: PAGE });
    byId("delta").textContent = step.delta;
    slider.setAttribute("aria-valuetext", step.delta + ", " + step.count + " rows flagged");
    document.querySelectorAll("[data-step]").forEach((place) => { place.textContent = step[place.dataset.step]; });
    document.querySelectorAll(".scores rect").forEach((bar, i) => bar.classList.toggle("alarm", i >= step.bar));
    const line = document.querySelector(".scores .threshold");
    ["x1", "x2"].forEach((end) => line.setAttribute(end, 4 * step.place));
    byId("own").disabled = step.own;
    showRows();
    showGroups();
    showTimes(step.own);
    document.querySelectorAll("[data-card]").forEach(showCard);
  }

  function sortBy(button) {
    const head = button.closest("th");
    state.sort = Number(button.dataset.sort);
    state.sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    table.querySelectorAll("th[aria-sort]").forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", state.sign > 0 ? "ascending" : "descending");
    showRows();
  }

  function pick(group) {
    Object.assign(state, { group, limit: PAGE });
    showRows();
    if (group !== null) byId("rows").scrollIntoView();
  }

  function download() {
    const most = Math.max(0, ...rows.map((row) => row[REASONS].length));
    const heads = ["row", ...labels, data.rarity === "Score" ? "score" : "p_value"];
    for (let i = 1; i <= most; i++) heads.push("column " + i, "value " + i, "expected " + i, data.measure + " " + i);
    const lines = chosen().map((i) => {
      const reasons = rows[i][REASONS].flatMap(([name, ...rest]) => [names[name], ...rest]);
      return [rows[i][ROW], ...rows[i][LABELS], rows[i][RARE], ...reasons, ...Array(4 * most - reasons.length).fill("")];
    });
    const quoted = (cell) => (/[",\r\n]/.test(String(cell)) ? '"' + String(cell).replaceAll('"', '""') + '"' : String(cell));
    const text = [heads, ...lines].map((line) => line.map(quoted).join(",") + "\r\n").join("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = data.noun.replace(" ", "_") + ".csv";
    link.click();
    URL.revokeObjectURL(link.href);
  }

  if (slider) {
    slider.addEventListener("input", showStep);
    byId("own").addEventListener("click", () => {
      slider.value = own;
      showStep();
      slider.focus();
    });
  }
  document.querySelectorAll("[data-pick]").forEach((button) => button.addEventListener("click", () => pick(Number(button.dataset.pick))));
  if (table) {
    byId("filter").addEventListener("input", (event) => {
      Object.assign(state, { words: event.target.value.toLowerCase().split(/\s+/).filter(Boolean), limit: PAGE });
      showRows();
    });
    byId("more").addEventListener("click", () => { state.limit += PAGE; showRows(); });
    byId("every").addEventListener("click", () => pick(null));
    byId("download").addEventListener("click", download);
    table.querySelectorAll("button[data-sort]").forEach((button) => button.addEventListener("click", () => sortBy(button)));
    showRows();
  }
})();
