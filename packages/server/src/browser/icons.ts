/** Pictures of the page, which have the color of the text around them. */

const namespace = 'http://www.w3.org/2000/svg';

/** Returns a padlock. Its text is beside it, or the label of the element around it. */
export function lockIcon(): SVGElement {
  return drawing('M5 7V5a3 3 0 0 1 6 0v2M4 7h8v6.5H4z');
}

/** Returns a chain, for addresses that can be shared. */
export function linkIcon(): SVGElement {
  return drawing('M6.5 9.5l3-3M7 5l1.7-1.7a2.5 2.5 0 0 1 3.6 3.6L10.6 8.6M9 11l-1.7 1.7a2.5 2.5 0 0 1-3.6-3.6L5.4 7.4');
}

function drawing(line: string): SVGElement {
  const path = document.createElementNS(namespace, 'path');
  path.setAttribute('d', line);
  const svg = document.createElementNS(namespace, 'svg');
  for (const [key, value] of Object.entries({ class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' })) {
    svg.setAttribute(key, value);
  }
  svg.append(path);
  return svg;
}
