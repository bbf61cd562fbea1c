import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns what axe finds on a page: the rule, and the elements that break it. */
export async function accessibilityFindings(page: Page): Promise<readonly string[]> {
  // The content security policy of a page does not apply to the debugger.
  await page.evaluate(axe.source);
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary).join(' | ')))`);
}
