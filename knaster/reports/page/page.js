/* Search and filter. Without this script the page shows everything; nothing here is needed to read it. */
(function () {
  "use strict";
  const form = document.getElementById("find");
  const text = document.getElementById("find-text");
  const only = document.getElementById("find-only");
  const told = document.getElementById("find-told");
  const sections = [];
  const names = new Set();

  /* Lower case, and one space for everything that is not part of a name: "pve44/1," is " pve44 1 ". */
  function plain(words) {
    return " " + words.toLowerCase().replace(/[^\p{L}\p{N}._-]+/gu, " ").trim() + " ";
  }

  function index() {
    for (const section of document.querySelectorAll("[data-section]")) {
      const items = [];
      for (const element of section.querySelectorAll("[data-item]")) {
        names.add(plain(element.dataset.item));
        items.push({ element: element, words: null, tags: " " + (element.dataset.tags || "") + " " });
      }
      if (items.length) {
        sections.push({ noun: section.dataset.section, none: section.querySelector("[data-none]"), items: items });
      }
    }
  }

  function matches(item, words, whole, tag) {
    if (tag && !item.tags.includes(" " + tag + " ")) {
      return false;
    }
    if (!words.length) {
      return true;
    }
    if (item.words === null) {
      item.words = plain(item.element.dataset.item + " " + item.element.textContent);
    }
    return words.every((word) => item.words.includes(whole ? " " + word + " " : word));
  }

  function apply() {
    const asked = plain(text.value);
    const whole = names.has(asked);
    const pieces = whole ? [asked] : text.value.split(/\s+/).map(plain);
    const words = pieces.map((piece) => piece.trim()).filter(Boolean);
    const counts = [];
    for (const section of sections) {
      let shown = 0;
      for (const item of section.items) {
        const match = matches(item, words, whole, only.value);
        item.element.hidden = !match;
        shown += match ? 1 : 0;
      }
      if (section.none) {
        section.none.hidden = shown > 0;
      }
      counts.push(shown + " of " + section.items.length + " " + section.noun);
    }
    const all = !words.length && !only.value;
    told.textContent = all ? "Everything is shown." : "Shown: " + counts.join(", ") + ".";
  }

  /* A link may lead to what the filter hides: then the filter goes. */
  function reveal(event) {
    const link = event.target.closest("a[href^='#']");
    const target = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (target && target.closest("[hidden]")) {
      text.value = "";
      only.value = "";
      apply();
    }
  }

  let waiting = 0;
  function later() {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(apply, 120);
  }

  index();
  form.hidden = false;
  text.addEventListener("input", later);
  only.addEventListener("change", apply);
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    apply();
  });
  form.addEventListener("reset", function () {
    window.setTimeout(function () {
      apply();
      text.focus();
    }, 0);
  });
  document.addEventListener("click", reveal);
  if (text.value || only.value) {
    apply();
  }
})();
