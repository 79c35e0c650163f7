// What on the page can't be read: text that is cut off without a tooltip that has it whole, and controls that lie outside
// of the window where nothing scrolls to them. Answers sentences.

const shown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && element.getClientRects().length > 0;
const place = (element) => `${element.tagName.toLowerCase()}.${String(element.className).split(" ")[0]} “${element.textContent.trim().slice(0, 40)}”`;
const problems = [];

for (const element of document.querySelectorAll("#root *")) {
  const style = getComputedStyle(element);
  const isCut =
    (style.textOverflow === "ellipsis" && style.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1) ||
    (style.webkitLineClamp !== "none" && style.webkitLineClamp !== "" && element.scrollHeight > element.clientHeight + 2);
  if (!isCut || !shown(element)) continue;
  // Words that can be unfolded where they stand are no loss.
  if (!element.closest("[title]") && !element.closest("[aria-expanded]")) problems.push(`cut off without a tooltip: ${place(element)}`);
}

const scrolls = (element) => {
  for (let at = element.parentElement; at; at = at.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(at);
    if (/auto|scroll/.test(overflowX + overflowY)) return true;
  }
  return false;
};
for (const element of document.querySelectorAll("button, input, textarea, select, a[href]")) {
  if (!shown(element) || scrolls(element)) continue;
  const box = element.getBoundingClientRect();
  // What only a screen reader meets is one pixel large.
  if (box.width <= 1 || box.height <= 1) continue;
  if (box.right > innerWidth + 1 || box.left < -1 || box.bottom > innerHeight + 1 || box.top < -1) problems.push(`outside of the window: ${place(element)}`);
}
if (document.documentElement.scrollWidth > innerWidth + 1) problems.push("the page is wider than the window");

return [...new Set(problems)];
