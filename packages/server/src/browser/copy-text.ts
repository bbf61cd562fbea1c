/** Copies text, and tells in an element whether the browser has allowed it. */

/**
 * @param notice receives the outcome
 * @param advice what to do where the browser refuses, as it does for pages that are not a secure context
 */
export async function copyText(text: string, notice: HTMLElement, advice: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    notice.textContent = 'Copied';
    return true;
  } catch {
    notice.textContent = `The browser does not allow it here; ${advice}.`;
    return false;
  }
}
