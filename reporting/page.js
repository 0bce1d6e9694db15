"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const form = document.getElementById("filters"), region = document.getElementById("filtered");
const theme = document.getElementById("theme"), root = document.documentElement;
root.classList.add("scripted");

// theme: the system's, until the button says otherwise
const store = { get() { try { return localStorage.getItem("theme"); } catch { return null; } }, set(value) { try { localStorage.setItem("theme", value); } catch { /* not from disk */ } } };
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
function nameTheme() { theme.textContent = isDark() ? "Light theme" : "Dark theme"; }
if (["dark", "light"].includes(store.get())) root.dataset.theme = store.get();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; store.set(root.dataset.theme); nameTheme(); });
theme.hidden = false;
nameTheme();

// filters: an element is shown if all its data attributes match
const offered = new Set(all("input[name=method]", form).map((box) => box.value));
const squeezed = (text) => text.toLowerCase().replaceAll("->", "→").replace(/\s+/g, "");
function wanted() {
  const values = new FormData(form);
  const [metric, status, verdict] = ["metric", "status", "verdict"].map((name) => values.get(name));
  return { methods: new Set(values.getAll("method")), metric, status, verdict, text: squeezed(values.get("set")) };
}
function isUnwanted(own, { methods, metric, status, text }) {
  return (own.metric && own.metric !== metric) || (own.method && offered.has(own.method) && !methods.has(own.method)) ||
    (own.set && text && !squeezed(own.set).includes(text)) || (own.status && status && !own.status.startsWith(status));
}
function applyFilters() {
  const asked = wanted();
  for (const element of all("[data-metric], [data-method], [data-set], [data-status], [data-verdict]", region)) {
    if (element.closest("form")) continue;
    const own = element.dataset;
    const other = Boolean(asked.verdict && own.verdict && own.verdict !== asked.verdict);
    element.classList.toggle("faded", other);
    element.toggleAttribute("hidden", Boolean(isUnwanted(own, asked)));
  }
  for (const row of all("tr[data-set]:not([hidden])", region)) {
    const cells = all("td[data-verdict]:not([hidden])", row);
    if (cells.length && cells.every((cell) => cell.classList.contains("faded"))) row.hidden = true;
  }
  for (const row of all("tr[data-set]:not([hidden])", region)) {
    const cells = all("td[data-method]", row);
    if (cells.length && cells.every((cell) => cell.hidden)) row.hidden = true;
  }
  // an average is that of the whole table
  for (const foot of all("tfoot", region)) foot.hidden = all("tr[data-set][hidden]", foot.closest("table")).length > 0;
  for (const block of all(".scroll:has(tr[data-set])", region)) block.classList.toggle("empty", !all("tbody tr:not([hidden])", block).length);
  for (const message of all(".no-match", region)) message.hidden = !isEmpty(message.parentElement, message);
  const cells = all(".heat:not([hidden]) tbody td[data-verdict]", region);
  const shown = cells.filter((cell) => !cell.hidden && !cell.classList.contains("faded") && !cell.parentElement.hidden);
  const metric = asked.metric === "auc_pr" ? "AUC-PR" : "AUC-ROC";
  form.querySelector("output").textContent = shown.length ? `· ${metric} · ${shown.length} of ${cells.length} cells of the tables` : "· no cell of the tables matches";
  cueScrolling();
}
// whether nothing is left to show between a message and the heading above it
function isEmpty(parent, message) {
  let hasAny = false;
  for (let one = message.previousElementSibling; one && !/^(H\d|SUMMARY)$/.test(one.tagName) && !one.matches(".no-match"); one = one.previousElementSibling) {
    const parts = all("tbody tr, figure", one);
    if (!parts.length) continue;
    hasAny = true;
    if (!one.hidden && parts.some((part) => !part.closest("[hidden]") && !part.matches("figure:not(:has(.strip:not([hidden]))).strips"))) return false;
  }
  return hasAny;
}
for (const kind of ["input", "change"]) form.addEventListener(kind, applyFilters);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => { sortAgain(); applyFilters(); }));
document.getElementById("all-methods").addEventListener("click", () => {
  const boxes = all("input[name=method]", form), on = !boxes.every((box) => box.checked);
  for (const box of boxes) box.checked = on;
  applyFilters();
});

// the list of claims has its own filters
const claimForm = document.getElementById("claim-filters");
function filterClaims() {
  const values = new FormData(claimForm), text = squeezed(values.get("text")), verdict = values.get("verdict");
  const items = all(".claims > li");
  for (const item of items) item.hidden = Boolean((text && !squeezed(item.textContent).includes(text)) || (verdict && !item.dataset.verdicts.split(" | ").includes(verdict)));
  const shown = items.filter((item) => !item.hidden).length;
  claimForm.querySelector("output").textContent = `${shown} of ${items.length}`;
  document.getElementById("no-claim").hidden = shown > 0;
}
claimForm.addEventListener("input", filterClaims);
claimForm.addEventListener("submit", (event) => event.preventDefault());
claimForm.hidden = false;
filterClaims();

// sorting: ascending, descending, as in the paper
function sortKey(cell, order) {
  const own = cell.dataset, value = order === "size" && own.difference ? Math.abs(own.difference) : own[order] ?? own.sort ?? cell.textContent.trim();
  return value === "" || value === "–" || Number.isNaN(Number(value)) ? String(value) : Number(value);
}
function compareKeys(a, b) {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return typeof a === "number" ? a - b : a.localeCompare(b);
}
function sortRows(head, direction) {
  const body = head.closest("table").tBodies[0], order = form.elements.order.value, column = head.cellIndex;
  for (const [position, row] of [...body.rows].entries()) row.dataset.position ??= position;
  for (const other of all("th", head.parentNode)) other.removeAttribute("aria-sort");
  if (direction) head.setAttribute("aria-sort", direction);
  const sign = direction === "descending" ? -1 : 1;
  const keyed = [...body.rows].map((row) => [direction ? sortKey(row.cells[column], order) : Number(row.dataset.position), row]);
  const isMissing = ([key]) => key === "" || key === "–";
  keyed.sort((a, b) => isMissing(a) || isMissing(b) ? isMissing(a) - isMissing(b) : sign * compareKeys(a[0], b[0]));
  body.append(...keyed.map(([, row]) => row));
}
document.addEventListener("click", (event) => {
  const head = event.target.closest("thead th");
  if (!head?.querySelector("button")) return;
  const current = head.getAttribute("aria-sort");
  sortRows(head, current === "ascending" ? "descending" : current ? null : "ascending");
});
function sortAgain() { for (const head of all("th[aria-sort]", region)) sortRows(head, head.getAttribute("aria-sort")); }
form.elements.order.addEventListener("change", sortAgain);

// commands to copy
document.addEventListener("click", async (event) => {
  const button = event.target.closest(".copy");
  if (!button) return;
  try { await navigator.clipboard.writeText(button.dataset.copy); } catch {
    const area = Object.assign(document.createElement("textarea"), { value: button.dataset.copy });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "copied";
  setTimeout(() => { button.textContent = "copy"; }, 1500);
});

// mark tables that are wider than their container
function cueScrolling() { for (const block of all(".scroll")) block.classList.toggle("more", block.scrollWidth > block.clientWidth + 2); }
addEventListener("resize", cueScrolling);
document.addEventListener("toggle", cueScrolling, true);

// links open the folds they point into; printing opens all folds
function openTarget() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  const metric = target && target.closest("[data-metric]")?.dataset.metric;
  if (metric) { form.elements.metric.value = metric; applyFilters(); }
  if (target && target.closest(".claims > li[hidden]")) { claimForm.reset(); filterClaims(); }
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
let opened = [];
addEventListener("beforeprint", () => { opened = all("details:not([open])"); for (const one of opened) one.open = true; });
addEventListener("afterprint", () => { for (const one of opened) one.open = false; });

if (matchMedia("(max-width: 50rem)").matches) form.querySelector("details").open = false;
form.hidden = document.getElementById("order").hidden = false;
applyFilters();
openTarget();
