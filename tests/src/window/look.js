const query = arguments[0];

const implicit = {
  button: "button, input[type=button], input[type=submit], summary",
  link: "a[href]",
  heading: "h1, h2, h3, h4, h5, h6",
  textbox: "textarea, input:not([type]), input[type=text], input[type=search], input[type=url], [contenteditable=true]",
  combobox: "select",
  region: "section[aria-label], section[aria-labelledby]",
  complementary: "aside",
  navigation: "nav",
  main: "main",
  dialog: "dialog[open]",
  list: "ul, ol",
  listitem: "li",
  option: "option",
  article: "article",
  checkbox: "input[type=checkbox]",
};

const normal = (text) => text.replace(/\s+/g, " ").trim();

function nameOf(element) {
  const labelled = element.getAttribute("aria-labelledby");
  if (labelled) {
    const parts = labelled.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "");
    return normal(parts.join(" "));
  }
  const label = element.getAttribute("aria-label");
  if (label) return normal(label);
  if (element.labels?.length) return normal([...element.labels].map((label) => label.textContent).join(" "));
  const own = normal(element.innerText ?? element.textContent ?? "");
  return own || normal(element.getAttribute("title") ?? element.getAttribute("placeholder") ?? "");
}

function isVisible(element) {
  return element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && element.getClientRects().length > 0;
}

function isEnabled(element) {
  return !element.disabled && element.getAttribute("aria-disabled") !== "true" && !element.closest("[inert]");
}

const same = (a, b) => a.toLowerCase() === b.toLowerCase();

function isWithin(element, landmark) {
  for (let at = element; at; at = at.parentElement) {
    const named = at.hasAttribute("aria-label") || at.hasAttribute("aria-labelledby");
    if (named && same(nameOf(at), landmark)) return true;
  }
  return false;
}

const selector = [`[role="${query.role}"]`, implicit[query.role]].filter(Boolean).join(", ");
return [...document.querySelectorAll(selector)].filter((element) => {
  const role = element.getAttribute("role");
  if (role && role !== query.role) return false;
  if (query.name !== null && !same(nameOf(element), query.name)) return false;
  if (query.containing !== null) {
    const text = `${nameOf(element)} ${normal(element.textContent ?? "")}`;
    if (!text.includes(query.containing)) return false;
  }
  if (query.within !== null && !isWithin(element, query.within)) return false;
  return isVisible(element) && (!query.enabled || isEnabled(element));
});
