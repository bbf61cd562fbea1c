/** The page of the example: uploads through the generated client, with progress. */
import { books, booksIdCard, booksIdCover, importBooks } from './client.js';

const element = (id) => document.getElementById(id);
const coverForm = element('cover');
const importForm = element('import');

/**
 * Runs the upload of a form: shows its progress and its result or problem, and lets the user cancel it.
 * @param call starts the upload with the options, and returns the text of a success
 */
async function upload(form, call) {
  const [submit, cancel] = form.querySelectorAll('button');
  const bar = form.querySelector('progress');
  const status = form.querySelector('.status');
  const problem = form.querySelector('.problem');
  const controller = new AbortController();
  const abort = () => controller.abort();
  const onProgress = ({ loaded, total }) => {
    bar.value = (100 * loaded) / total;
    status.textContent =
      loaded < total ? `${Math.floor(bar.value)} % of ${sizeText(total)}` : 'Sent; the database stores it …';
  };
  cancel.addEventListener('click', abort);
  bar.value = 0;
  problem.textContent = '';
  status.textContent = 'Sending …';
  submit.disabled = true;
  cancel.hidden = bar.hidden = false;
  try {
    status.textContent = await call({ signal: controller.signal, onProgress });
  } catch (error) {
    status.textContent = '';
    const hint = error.problem?.hint ?? '';
    problem.textContent =
      error.name === 'AbortError' ? 'Cancelled; nothing was stored.' : `${error.message} ${hint}`.trim();
  } finally {
    cancel.removeEventListener('click', abort);
    submit.disabled = false;
    cancel.hidden = bar.hidden = true;
  }
}

function sizeText(bytes) {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function onSubmit(form, call) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void upload(form, call);
  });
}

/** @param url null: the book has no cover */
async function showCover(url, title) {
  const picture = element('picture');
  // A new cover has the URL of the old one, so that an image from a cache might be the old one.
  const image = url === null ? null : await (await fetch(url, { cache: 'no-store' })).blob();
  URL.revokeObjectURL(picture.src);
  picture.hidden = image === null;
  element('no-picture').hidden = image !== null;
  element('caption').textContent = title;
  if (image === null) return;
  picture.src = URL.createObjectURL(image);
  picture.alt = `Cover of ${title}`;
}

async function showBook() {
  const { title, cover } = await booksIdCard({ id: Number(element('book').value) });
  await showCover(cover, title);
}

async function listBooks() {
  const select = element('book');
  const selected = select.value;
  const all = await books({ limit: 1000 });
  select.replaceChildren(...all.map(({ id, title }) => new Option(title, id)));
  if (selected !== '') select.value = selected;
}

onSubmit(coverForm, async (options) => {
  const select = element('book');
  const title = select.selectedOptions[0].text;
  const url = await booksIdCover(element('image').files[0], { id: Number(select.value) }, options);
  await showCover(url, title);
  return `${title} has a new cover.`;
});

onSubmit(importForm, async (options) => {
  const region = importForm.nextElementSibling;
  region.hidden = true;
  const lines = await importBooks(element('csv').files[0], options);
  element('lines').replaceChildren(...lines.map(lineRow));
  region.hidden = false;
  const refused = lines.filter(({ problem }) => problem !== null).length;
  await listBooks();
  return `${lines.length - refused} of ${lines.length} books added, ${refused} refused.`;
});

function lineRow({ line, isbn, title, problem }) {
  const row = document.createElement('tr');
  row.className = problem === null ? 'added' : 'refused';
  for (const text of [line, isbn, title, problem ?? 'added']) row.insertCell().textContent = text ?? '';
  return row;
}

element('book').addEventListener('change', () => void showBook());
await listBooks();
await showBook();
