// The menu of a row.

import { element } from "./format.js";

function moveBy(menu, key) {
  const items = [...menu.querySelectorAll("button:not(:disabled)")];
  const at = items.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1 }[key];
  if (next != null) items.at(next >= items.length ? 0 : next)?.focus();
  return next != null;
}

// Shows a menu. `items` are { text, key, run, disabled }; null is a line between items. At the end, the focus returns.
export function openMenu(items, x, y, label) {
  const from = document.activeElement;
  const end = () => {
    removeEventListener("pointerdown", outside, true);
    menu.remove();
    from.focus({ preventScroll: true });
  };
  const outside = (event) => { if (!menu.contains(event.target)) end(); };
  const menu = element("div", { class: "menu", role: "menu", "aria-label": label }, ...items.map((item) => (item ? element("button", {
    type: "button", role: "menuitem", tabIndex: -1, disabled: !!item.disabled, on: { click: () => { end(); item.run(); } },
  }, element("span", { text: item.text }), element("kbd", { text: item.key ?? "", "aria-hidden": "true" })) : element("hr"))));
  menu.addEventListener("contextmenu", (event) => event.preventDefault());
  menu.addEventListener("keydown", (event) => {
    // The keys of the page do not act while a menu is open.
    event.stopPropagation();
    const isEnd = ["Escape", "Tab"].includes(event.key);
    if (isEnd) end();
    if (isEnd || moveBy(menu, event.key)) event.preventDefault();
  });
  document.body.append(menu);
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
  moveBy(menu, "Home");
  addEventListener("pointerdown", outside, true);
}

// Copies text. Pages that are not served over https or from this machine may not use navigator.clipboard.
export async function copy(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  const field = element("textarea", { class: "hidden" });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("The browser does not let this page copy");
}
