// Making elements. Text is always text: names may be anything.

/** An element with properties, attributes (with a dash or of SVG) and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "for" || name === "list") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** An element of SVG. */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A number with so many significant digits, without powers of ten where they can be avoided. */
export function short(number, digits = 3) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e5 || size < 1e-3) return number.toExponential(1).replace("e+", "e");
  return String(Number(number.toPrecision(digits)));
}

export const percent = (share) => `${(100 * share).toFixed(1)} %`;
