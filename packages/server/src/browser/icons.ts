/** Pictures of the page, which have the color of the text around them. */

const namespace = 'http://www.w3.org/2000/svg';

/** Returns a padlock. Its text is beside it, or the label of the element around it. */
export function lockIcon(): SVGElement {
  const path = document.createElementNS(namespace, 'path');
  path.setAttribute('d', 'M5 7V5a3 3 0 0 1 6 0v2M4 7h8v6.5H4z');
  const svg = document.createElementNS(namespace, 'svg');
  for (const [key, value] of Object.entries({ class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' })) {
    svg.setAttribute(key, value);
  }
  svg.append(path);
  return svg;
}
