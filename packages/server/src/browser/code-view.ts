/** The request of a form as code, in one language at a time. */
import { type CodeSample, codeSamples, type SampledForm } from './code-samples.ts';
import { copyText } from './copy-text.ts';
import { button, element } from './dom.ts';
import { visibleText } from './visible-text.ts';

export class CodeView {
  readonly view: HTMLElement;
  readonly #code = element('pre', { class: 'code', tabindex: 0, role: 'group', 'aria-label': 'Code of the request' });
  readonly #notice = element('span', { class: 'note', role: 'status' });
  readonly #buttons: readonly HTMLButtonElement[];
  readonly #read: () => SampledForm;
  #chosen = 0;

  /** @param read returns the form as it is */
  constructor(read: () => SampledForm) {
    this.#read = read;
    this.#buttons = codeSamples(read()).map(({ label }, index) =>
      button(visibleText(label), 'choice', () => {
        this.#chosen = index;
        this.update();
      }),
    );
    const choices = element('div', { class: 'choices', role: 'group', 'aria-label': 'Language' }, ...this.#buttons);
    const copy = button('Copy code', 'choice', () => void this.#copy());
    this.view = element(
      'div',
      { class: 'code-view' },
      element('div', { class: 'code-bar' }, choices, this.#notice, copy),
      this.#code,
    );
    this.update();
  }

  update(): void {
    for (const [index, one] of this.#buttons.entries()) {
      one.setAttribute('aria-pressed', String(index === this.#chosen));
    }
    this.#code.textContent = visibleText(this.#sample().code);
    this.#notice.textContent = '';
  }

  #sample(): CodeSample {
    return codeSamples(this.#read())[this.#chosen]!;
  }

  async #copy(): Promise<void> {
    const isCopied = await copyText(this.#sample().code, this.#notice, 'select the code');
    if (!isCopied) getSelection()?.selectAllChildren(this.#code);
  }
}
