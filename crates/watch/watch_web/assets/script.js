// Zoom of the axis of time, and pages that follow the watch. Everything else works without.
"use strict";

// A drag over a chart asks for the page of that time; a double click for ten times as much.
function zoomable(over) {
  const data = (name) => Number(over.dataset[name]);
  const [left, right, from, to] = ["left", "right", "from", "to"].map(data);
  let start = null;
  let band = null;
  const place = (event) => {
    const box = over.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * data("width");
    return Math.min(right, Math.max(left, x));
  };
  const time = (x) => Math.round(from + ((x - left) / (right - left)) * (to - from));
  const show = (begin, end) => {
    const address = new URL(location.href);
    address.searchParams.delete("range");
    address.searchParams.set("from", Math.max(0, begin));
    address.searchParams.set("to", end);
    location.assign(address);
  };
  const end = () => {
    if (band) band.remove();
    start = band = null;
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("a")) return;
    event.preventDefault();
    start = place(event);
    over.setPointerCapture(event.pointerId);
    band = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    band.setAttribute("class", "band");
    band.setAttribute("y", data("top"));
    band.setAttribute("height", data("bottom") - data("top"));
    over.append(band);
  });
  over.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const x = place(event);
    band.setAttribute("x", Math.min(start, x));
    band.setAttribute("width", Math.abs(x - start));
  });
  over.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const times = [start, place(event)].map(time).sort((one, other) => one - other);
    const moved = Math.abs(place(event) - start);
    end();
    if (moved > 12 && times[1] - times[0] >= 60) show(times[0], times[1]);
  });
  over.addEventListener("pointercancel", end);
  over.addEventListener("dblclick", (event) => {
    if (event.target.closest("a")) return;
    const half = Math.min(5 * (to - from), 1825 * 86400);
    const middle = time(place(event));
    show(Math.round(middle - half), Math.round(middle + half));
  });
}

function prepare() {
  document.querySelectorAll("svg.over").forEach(zoomable);
}

// A key on a chart follows the link that is marked with it, and stays on the chart.
document.addEventListener("keydown", (event) => {
  const plot = document.activeElement?.closest(".plot[id]");
  if (!plot || event.ctrlKey || event.altKey || event.metaKey) return;
  const link = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
  if (!link) return;
  event.preventDefault();
  location.assign(`${link.href}#${plot.id}`);
});

// The same page anew, without losing the place, the focus or what is unfolded.
async function refresh() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [here, there] = [document, page].map((side) => side.querySelector("main"));
  const focus = document.activeElement;
  if (!there || focus?.closest("form")) return;
  const links = (side) => [...side.querySelectorAll("a, summary")];
  const focused = links(here).indexOf(focus);
  const open = [...here.querySelectorAll("details")].map((part) => part.open);
  const scrolled = [...here.querySelectorAll(".matrix, .plot, .table")].map((part) => part.scrollLeft);
  here.replaceChildren(...there.childNodes);
  here.querySelectorAll("details").forEach((part, number) => (part.open = open[number] ?? part.open));
  here.querySelectorAll(".matrix, .plot, .table").forEach((part, number) => (part.scrollLeft = scrolled[number] ?? 0));
  if (focused >= 0) links(here)[focused]?.focus({ preventScroll: true });
  document.querySelector("header .now").replaceWith(page.querySelector("header .now"));
  prepare();
}

// A browser opens six connections to a server for all of its tabs: only a page that is seen keeps one.
let news = null;
function follow() {
  if (news || document.hidden) return;
  news = new EventSource("/live");
  news.addEventListener("open", () => document.body.classList.add("following"));
  news.addEventListener("error", () => document.body.classList.remove("following"));
  news.addEventListener("changed", refresh);
}
function leave() {
  news?.close();
  news = null;
  document.body.classList.remove("following");
}

document.body.classList.add("scripts");
prepare();
if (document.querySelector("main[data-live]")) {
  follow();
  addEventListener("pagehide", leave);
  addEventListener("pageshow", follow);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return leave();
    refresh();
    follow();
  });
}
