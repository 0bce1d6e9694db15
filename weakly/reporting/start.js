if (matchMedia("(max-width: 50rem)").matches) form.querySelector("details").open = false;
form.hidden = document.getElementById("order").hidden = false;
applyFilters();
openTarget();
