/** Elements with attributes and text. Text never becomes markup. */

type Attributes = Readonly<Record<string, string | number | boolean | null>>;
type Child = Node | string | null;

/** Creates an element. `false` and null leave out an attribute or child. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** Creates a button that submits nothing. */
export function button(text: string, className: string, onClick: () => void): HTMLButtonElement {
  const node = element('button', { type: 'button', class: className }, text);
  node.addEventListener('click', onClick);
  return node;
}
