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

