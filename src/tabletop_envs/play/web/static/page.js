// Small helpers of the page. Whatever a name says becomes text (textContent), never markup.

const SVG = "http://www.w3.org/2000/svg";

export function at(id) {
  return document.getElementById(id);
}

export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

export function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export function chip([fill, stroke]) {
  const element = shape("svg", { class: "chip", viewBox: "0 0 14 14", "aria-hidden": "true" });
  element.append(shape("circle", { cx: 7, cy: 7, r: 6, "stroke-width": 1.5, fill, stroke }));
  return element;
}

// What the names begin with, word by word: `move house 3,4` of its moves.
export function commonWords(names) {
  const words = names.map((name) => name.split(" "));
  const differs = words[0].findIndex((word, place) => words.some((other) => other[place] !== word));
  return words[0].slice(0, differs < 0 ? undefined : differs).join(" ");
}

// Arrow keys within a row or column of buttons.
export function moveFocus(event, elements, forth, back) {
  const step = { [forth]: 1, [back]: -1 }[event.key];
  const place = elements.indexOf(document.activeElement);
  if (step === undefined || place < 0) return false;
  event.preventDefault();
  elements[(place + step + elements.length) % elements.length].focus();
  return true;
}
