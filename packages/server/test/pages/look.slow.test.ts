import { readFileSync } from 'node:fs';
import { useDatabase } from '@pgway/testing';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium, openEndpoint, sendForm, useStartPage } from './page-fixture.ts';

/* The look of the start page: hostile names, many endpoints, dark mode, contrast, narrow windows. */

const hostile = readFileSync(new URL('../../../generators/test/golden/hostile/setup.sql', import.meta.url), 'utf8');
const markup = '<img src=x onerror=alert(1)></script><script>alert(2)</script>';
const database = useDatabase(`${hostile}
  create schema "${markup}";
  create function "${markup}"."${markup}"("${markup}" text default '${markup}', "${'\u202E'}txt.exe" text default null)
  returns text language sql as $$ select '${markup}' $$;
  comment on function "${markup}"."${markup}" is 'HTTP POST /api/hostile
${markup} javascript:alert(3) ${'\u202E'}reversed
authorize ${'\u202E'}nimda';
  create function echo() returns text language sql stable as $$ select '${markup}' $$;
  comment on function echo is 'HTTP
Content-Type: text/html
X-Odd: <b>bold</b>';
  create function whole_number(_n bigint) returns json language sql as $$ select json_build_object('n', _n, 's', 'text', 't', true) $$;
  comment on function whole_number is 'HTTP PUT
A very long description without any break that would be wider than a narrow window if it did not end in an ellipsis.';
  create function "averyveryveryveryveryveryveryverylongnamewithoutanybreak"("anequallylongparameternamewithoutanybreakinit" text)
  returns int language sql as 'select 1';
  comment on function "averyveryveryveryveryveryveryverylongnamewithoutanybreak" is 'HTTP DELETE';
  create function patch_it() returns int language sql as 'select 1';
  comment on function patch_it is 'HTTP PATCH
info_path
authorize editor';
`);
const startPage = useStartPage(() => database.connectionString, {
  bearer: { enabled: true },
  crud: { enabled: true },
  openApi: { title: `${markup}` },
});

const many = useDatabase(
  Array.from(
    { length: 1000 },
    (_, n) => `
  create function f${n}(_a int, _b text default 'x') returns table (a int, b text) language sql stable as 'select 1, null';
  comment on function f${n} is 'The function ${n} of a thousand.
  HTTP';`,
  ).join('\n'),
);
const large = useStartPage(() => many.connectionString, {});

/** WCAG 2.2, 1.4.3 and 1.4.11. */
const contrastScript = `(() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const backgroundOf = (node) => {
    for (let at = node; at !== null; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color[3] !== 0) return color;
    }
  };
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const low = new Map();
  for (const node of document.querySelectorAll('body *')) {
    const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim() !== '');
    const style = getComputedStyle(node);
    if (!hasText || !node.checkVisibility()) continue;
    const found = ratio(parse(style.color), backgroundOf(node));
    if (found < 4.5) low.set(node.className || node.localName, found);
  }
  for (const node of document.querySelectorAll('input, select, .field textarea, button:not(.primary)')) {
    if (!node.checkVisibility()) continue;
    const found = ratio(parse(getComputedStyle(node).borderTopColor), backgroundOf(node.parentElement));
    if (found < 3) low.set('border of ' + (node.className || node.localName), found);
  }
  return [...low];
})()`;

async function openEverything(page: Page): Promise<void> {
  await page.evaluate(`for (const details of document.querySelectorAll('.endpoint')) details.open = true`);
  const all = await page.locator('.endpoint').count();
  await expect.poll(() => page.locator('.opened').count()).toBe(all);
}

async function openAll(page: Page): Promise<void> {
  for (const id of ['echo', 'wholeNumber', 'patchIt']) await openEndpoint(page, id);
  await sendForm(page.locator('#endpoint-echo'));
  await page.locator('#endpoint-wholeNumber').getByLabel('n', { exact: false }).first().fill('12');
  await sendForm(page.locator('#endpoint-wholeNumber'));
  await sendForm(page.locator('#endpoint-patchIt'));
}

describe.skipIf(!hasChromium)('in a browser (skipped where there is no Chromium)', () => {
  test('hostile names, comments and responses are text', async () => {
    const { page, errors } = await startPage.open();
    await openEverything(page);
    for (const id of ['echo', 'hostile']) await sendForm(page.locator(`#endpoint-${id}`));
    expect(await page.title()).toBe(markup);
    const names = await page.evaluate(
      `[...new Set([...document.querySelectorAll('*')].map(({ localName }) => localName))].toSorted().join(' ')`,
    );
    expect(names).toBe(
      'a aside body button code dd details dialog div dl dt fieldset form h1 h2 h3 h4 head header html input kbd label legend li link main meta nav ol option p path pre progress script section select span strong summary svg textarea title ul wbr',
    );
    expect(await page.evaluate(`document.scripts.length`)).toBe(1);
    expect(await page.evaluate(`document.querySelectorAll('[style], [onerror], [onclick]').length`)).toBe(0);
    const hrefs = await page.evaluate(`[...document.links].map(({ href }) => new URL(href).origin)`);
    expect(new Set(hrefs as string[])).toEqual(new Set([startPage.origin]));
    expect(await page.getByRole('heading', { name: markup }).count()).toBe(2);
    const text = await page.locator('main').innerText();
    expect(/\p{Cc}|\p{Cf}/u.test(text.replaceAll(/[\n\t]/g, ''))).toBe(false);
    expect(text).toContain(String.raw`\u{202e}reversed`);
    expect(text).toContain(String.raw`\u{202e}nimda`);
    expect(await page.locator('#endpoint-echo .body').innerText()).toBe(markup);
    expect(errors).toEqual([]);
  });

  test('every named endpoint of a hostile database can be called', async () => {
    const { page, errors } = await startPage.open();
    const fetching = await openEndpoint(page, 'fetch_');
    await fetching.getByLabel('moods').fill(`it's */ "quoted"\n</script>`);
    expect(await sendForm(fetching)).toEqual(['200 OK', '[\n  "it\'s */ \\"quoted\\"",\n  "</script>"\n]']);
    const robot = await openEndpoint(page, 'u1f916Robot');
    await robot.getByLabel('😀').fill('😀&=#');
    expect(await sendForm(robot)).toEqual(['200 OK', '😀&=#']);
    const percent = await openEndpoint(page, '_100Sure');
    expect(await sendForm(percent)).toEqual(['200 OK', '1']);
    expect(errors).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('texts and borders have enough contrast in %s mode', async (colorScheme) => {
    const { page, errors } = await startPage.open({ colorScheme });
    await openAll(page);
    await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).click();
    const background = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    expect(background).toBe(colorScheme === 'dark' ? 'rgb(17, 20, 23)' : 'rgb(246, 248, 249)');
    expect(await page.evaluate(contrastScript)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('nothing is cut off at a width of 320 pixels', async () => {
    const { page } = await startPage.open({ viewport: { width: 320, height: 700 } });
    await openAll(page);
    await openEverything(page);
    const outside = await page.evaluate(`[...document.querySelectorAll('body *')]
      .filter((node) => node.checkVisibility() && !node.closest('.gist, .visually-hidden, option') && node.getBoundingClientRect().right > 320.5)
      .map((node) => node.outerHTML.slice(0, 120))`);
    expect(outside).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  test('every control has a name, and the page its landmarks', async () => {
    const { page } = await startPage.open();
    await openAll(page);
    const unnamed = await page.evaluate(`[...document.querySelectorAll('input, select, textarea, button')]
      .filter((node) => node.textContent.trim() === '' && !(node.labels?.length > 0) && !node.ariaLabel)
      .map((node) => node.outerHTML)`);
    expect(unnamed).toEqual([]);
    const ids = (await page.evaluate(`[...document.querySelectorAll('[id]')].map(({ id }) => id)`)) as string[];
    expect(new Set(ids).size).toBe(ids.length);
    for (const role of ['banner', 'main', 'complementary', 'search'] as const)
      expect(await page.getByRole(role).count()).toBe(1);
  });

  test('a thousand endpoints are listed and filtered', async () => {
    const { page, errors } = await large.open();
    await page.getByText('1000 endpoints').waitFor();
    await page.getByLabel('Filter endpoints').pressSequentially('function 77');
    // The page filters at the next frame.
    await expect.poll(() => page.locator('.endpoint:visible').count()).toBe(19);
    const last = await openEndpoint(page, 'f777');
    await last.getByLabel('a', { exact: false }).first().fill('1');
    expect((await sendForm(last))[0]).toBe('200 OK');
    const sizes =
      await page.evaluate(`performance.getEntriesByType('resource').filter(({ name }) => !name.endsWith('.json') && name.includes('/_pgway/'))
      .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, performance.getEntriesByType('navigation')[0].decodedBodySize)`);
    expect(sizes).toBeLessThan(125_000);
    expect(errors).toEqual([]);
  });
});
