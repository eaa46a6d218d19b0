// The menu of a row.

import { element } from "./format.js";

let close = null;

function place(menu, x, y) {
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
}

function moveBy(menu, key) {
  const items = [...menu.querySelectorAll("button:not(:disabled)")];
  const at = items.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1 }[key];
  if (next != null) items.at(next >= items.length ? 0 : next)?.focus();
  return next != null;
}

// Shows a menu. `items` are { text, key, run, disabled }; null is a line between items. When the menu closes, the focus returns to
// the element `from`.
export function openMenu(items, x, y, label, from) {
  close?.();
  const end = (run) => {
    close = null;
    menu.remove();
    removeEventListener("pointerdown", outside, true);
    removeEventListener("resize", cancel);
    if (from?.isConnected) from.focus({ preventScroll: true });
    run?.();
  };
  const cancel = () => end();
  const outside = (event) => { if (!menu.contains(event.target)) end(); };
  const menu = element("div", { class: "menu", role: "menu", "aria-label": label }, ...items.map((item) => (item
    ? element("button", { type: "button", role: "menuitem", tabIndex: -1, disabled: !!item.disabled, on: { click: () => end(item.run) } },
      element("span", { text: item.text }), item.key ? element("kbd", { text: item.key, "aria-hidden": "true" }) : null)
    : element("hr", { role: "separator" }))));
  menu.addEventListener("keydown", (event) => {
    // The keys of the page do not act while a menu is open.
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") end();
    else if (!moveBy(menu, event.key)) return;
    event.preventDefault();
  });
  menu.addEventListener("contextmenu", (event) => event.preventDefault());
  close = cancel;
  document.body.append(menu);
  place(menu, x, y);
  menu.querySelector("button:not(:disabled)")?.focus({ preventScroll: true });
  addEventListener("pointerdown", outside, true);
  addEventListener("resize", cancel);
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
