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

// a table that is wider than its place says so
function cueScrolling() { for (const block of all(".scroll")) block.classList.toggle("more", block.scrollWidth > block.clientWidth + 2); }
addEventListener("resize", cueScrolling);
document.addEventListener("toggle", cueScrolling, true);

// a link into something folded opens it; paper has no folds
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

