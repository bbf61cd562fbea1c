import { element } from './dom.ts';
import { visibleText } from './visible-text.ts';

/** Returns the parts of a path. Lines may break before slashes. Parameters stand out. */
export function pathParts(path: string): readonly Node[] {
  return path.split(/(?=\/)/).flatMap((part, index): Node[] => {
    const [slash, name] = part.startsWith('/') ? ['/', part.slice(1)] : ['', part];
    const text = visibleText(name);
    const shown = /^\{.*\}$/.test(name) ? element('span', { class: 'variable' }, text) : document.createTextNode(text);
    return [...(index > 0 ? [element('wbr')] : []), document.createTextNode(slash), shown];
  });
}
