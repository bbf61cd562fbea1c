/** Views of which one is shown, with a button for each. */
import { button, element } from './dom.ts';

export interface Choices {
  readonly buttons: HTMLElement;
  readonly views: readonly HTMLElement[];
}

/** @param label the name of the group of buttons. The first view is shown. */
export function createChoices(label: string, views: Readonly<Record<string, HTMLElement>>): Choices {
  const show = (shown: HTMLElement): void => {
    for (const [index, view] of Object.values(views).entries()) {
      view.hidden = view !== shown;
      buttons[index]!.setAttribute('aria-pressed', String(view === shown));
    }
  };
  const buttons = Object.entries(views).map(([name, view]) => button(name, 'choice', () => show(view)));
  show(Object.values(views)[0]!);
  return {
    buttons: element('div', { class: 'choices', role: 'group', 'aria-label': label }, ...buttons),
    views: Object.values(views),
  };
}
