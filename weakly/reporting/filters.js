// filters: an element is shown if everything it says about itself is wanted
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
// whether what a message belongs to, all that stands before it up to a heading, has nothing left to show
function isEmpty(parent, message) {
  let hasAny = false;
  for (let one = message.previousElementSibling; one && !/^(H\d|SUMMARY)$/.test(one.tagName) && !one.matches(".no-match"); one = one.previousElementSibling) {
    const parts = all("tbody tr, figure", one);
    if (!parts.length) continue;
    hasAny = true;
    if (!one.hidden && parts.some((part) => !part.closest("[hidden]"))) return false;
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

// the list of claims has filters of its own
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

