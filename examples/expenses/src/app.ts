import * as api from './api.ts';

type Expense = api.IExpenseGetResponse;

const element = <Type extends HTMLElement = HTMLElement>(id: string): Type => document.getElementById(id) as Type;
const page = {
  bar: element('bar'),
  live: element('live'),
  welcome: element('welcome'),
  signIn: element<HTMLFormElement>('sign-in'),
  invitation: element<HTMLFormElement>('invitation'),
  home: element('home'),
  filters: element('filters'),
  rows: element('rows'),
  editor: element<HTMLDialogElement>('editor'),
  expense: element<HTMLFormElement>('expense'),
  row: element<HTMLTemplateElement>('row'),
};
const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' });
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });
const labels: Readonly<Record<string, string>> = { submitted: 'Waiting', approved: 'Approved', rejected: 'Rejected' };

let me: api.IMeResponse;
let changes: api.ChangeStream<Expense> | null = null;
let expenses: readonly Expense[] = [];
let status = 'all';
/** The expense in the form; its id is null for a new one. */
let draft: { id: number | null } = { id: null };
/** The rows on the page with their content as JSON, by id. */
const shown = new Map<number, { readonly row: HTMLElement; readonly text: string }>();

/** Shows the page of the caller: the list, or the forms to sign in. */
async function showCaller(): Promise<void> {
  me = await api.me();
  const isSignedIn = me.id !== null;
  changes?.close();
  page.bar.hidden = page.home.hidden = !isSignedIn;
  page.welcome.hidden = isSignedIn;
  page.editor.close();
  clearList();
  if (isSignedIn) {
    element('name').textContent = me.name;
    element('company').textContent = `${me.company} · ${me.roles?.[0]}`;
    element('title').textContent = isApprover() ? `Expenses at ${me.company}` : 'Your expenses';
    showAvatar(page.bar, me.name!, me.id!);
    void run(followChanges, page.home);
  } else {
    const { type } = await fetch(element<HTMLAnchorElement>('provider').href, { redirect: 'manual' });
    element('provider').hidden = type !== 'opaqueredirect';
  }
}

const isApprover = (): boolean => me.roles?.includes('approver') === true;

/** The rows that the caller may see, after each change of one of them. Row level security decides which rows these are. */
async function followChanges(): Promise<void> {
  const stream = api.expenseChanges({ snapshot: true, filter: { order: 'spentOn.desc', limit: 500 } });
  changes = stream;
  stream.events.addEventListener('open', () => showLive(stream, true));
  stream.events.addEventListener('error', () => showLive(stream, false));
  for await (const list of stream) if (changes === stream) showExpenses(list);
}

function showLive(stream: api.ChangeStream<Expense>, isOpen: boolean): void {
  if (changes !== stream) return;
  page.live.className = isOpen ? 'open' : '';
  page.live.textContent = isOpen ? 'Live' : 'Connecting';
}

function clearList(): void {
  changes = null;
  expenses = [];
  shown.clear();
  page.rows.replaceChildren();
  page.rows.ariaBusy = 'true';
  element('loading').hidden = false;
  element('empty').hidden = true;
}

function showExpenses(list: readonly Expense[]): void {
  expenses = list.toSorted((left, right) => right.spentOn.localeCompare(left.spentOn) || right.id - left.id);
  for (const button of page.filters.querySelectorAll('button')) {
    const counted = withStatus(button.dataset['status']!);
    button.querySelector('output')!.textContent = money.format(counted.reduce((sum, { amount }) => sum + amount, 0));
    button.querySelector('small')!.textContent = counted.length === 1 ? '1 expense' : `${counted.length} expenses`;
    button.ariaPressed = String(button.dataset['status'] === status);
  }
  const waiting = expenses.filter(isDecidable).length;
  element('summary').textContent =
    waiting > 0 ? `${waiting} waiting for your decision.` : 'Changes appear here as they happen.';
  const isFirst = page.rows.ariaBusy === 'true';
  const visible = withStatus(status);
  const rows = visible.map((expense) => rowOf(expense, isFirst));
  const current = new Set(visible.map(({ id }) => id));
  for (const id of shown.keys()) if (!current.has(id)) shown.delete(id);
  // Rows that stay as they are keep the focus.
  rows.forEach((row, index) => {
    if (page.rows.children[index] !== row) page.rows.insertBefore(row, page.rows.children[index] ?? null);
  });
  while (page.rows.children.length > rows.length) page.rows.lastElementChild!.remove();
  page.rows.ariaBusy = 'false';
  element('loading').hidden = true;
  element('empty').hidden = rows.length > 0;
}

function withStatus(wanted: string): readonly Expense[] {
  return expenses.filter((expense) => wanted === 'all' || expense.status === wanted);
}

function isDecidable(expense: Expense): boolean {
  return expense.status === 'submitted' && expense.ownerId !== me.id && isApprover();
}

/** Returns the row on the page, or a new one when the expense has changed. */
function rowOf(expense: Expense, isFirst: boolean): HTMLElement {
  const { id, owner, description, amount, spentOn, receipt } = expense;
  const text = JSON.stringify(expense);
  const known = shown.get(id);
  if (known?.text === text) return known.row;
  const row = (page.row.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement;
  const part = <Type extends HTMLElement>(selector: string): Type => row.querySelector<Type>(selector)!;
  row.className = isFirst ? '' : 'new';
  row.dataset['id'] = String(id);
  // Text of users is never HTML.
  Object.assign(part('h2'), { textContent: description, title: description });
  part('p').textContent = `${owner} · ${day.format(new Date(spentOn))}`;
  part('.amount').textContent = money.format(amount);
  part('.chip').textContent = labels[expense.status]!;
  part('.chip').dataset['status'] = expense.status;
  showAvatar(row, owner, expense.ownerId);
  const link = part<HTMLAnchorElement>('.receipt');
  if (receipt === null) link.replaceWith(document.createElement('span'));
  else {
    link.href = part<HTMLImageElement>('img').src = receipt;
    part<HTMLImageElement>('img').alt = `Receipt of ${description}`;
  }
  const isOwn = expense.status === 'submitted' && expense.ownerId === me.id;
  const allowed = isOwn ? ['edit', 'withdraw'] : isDecidable(expense) ? ['approve', 'reject'] : [];
  for (const button of row.querySelectorAll('button')) {
    if (allowed.includes(button.dataset['action']!)) button.ariaLabel = `${button.textContent} ${description}`;
    else button.remove();
  }
  known?.row.remove();
  shown.set(id, { row, text });
  return row;
}

function showAvatar(parent: HTMLElement, name: string, id: number): void {
  const avatar = parent.querySelector<HTMLElement>('.avatar')!;
  avatar.textContent = name
    .replace(/(\S)\S*\s*/g, '$1')
    .slice(0, 2)
    .toUpperCase();
  avatar.style.setProperty('--hue', String((id * 137) % 360));
}

const actions: Readonly<Record<string, (expense: Expense) => Promise<void>>> = {
  edit: async (expense) => edit(expense),
  withdraw: ({ id }) => api.withdrawExpense({ id }).then(() => toast('The expense is withdrawn.')),
  approve: ({ id, owner }) => api.decide({ id, approved: true }).then(() => toast(`Approved: ${owner} sees it now.`)),
  reject: ({ id, owner }) => api.decide({ id, approved: false }).then(() => toast(`Rejected: ${owner} sees it now.`)),
};

function edit(expense: Expense | null): void {
  page.expense.reset();
  clearErrors(page.expense);
  draft = { id: expense?.id ?? null };
  const { description = '', amount = '', spentOn = new Date().toISOString().slice(0, 10) } = expense ?? {};
  const values = { description, amount, spentOn };
  for (const [name, value] of Object.entries(values)) inputOf(page.expense, name).value = String(value);
  page.expense.querySelector('h2')!.textContent = expense === null ? 'New expense' : 'Edit expense';
  page.editor.showModal();
}

async function saveExpense(): Promise<void> {
  const value = (name: string): string => inputOf(page.expense, name).value;
  const expense = { description: value('description'), amount: Number(value('amount')), spentOn: value('spentOn') };
  const file = inputOf(page.expense, 'receipt').files?.[0];
  const saved = draft;
  if (saved.id !== null) await api.changeExpense({ id: saved.id, ...expense });
  // When the upload fails, the form continues with the expense that there is.
  else saved.id = await api.addExpense(expense);
  if (file !== undefined) await sendReceipt(saved.id!, file);
  // The stream may have shown the row already, and the user may edit it.
  if (draft === saved) page.editor.close();
  toast('Saved.');
}

async function sendReceipt(id: number, file: File): Promise<void> {
  const bar = page.expense.querySelector('progress')!;
  bar.hidden = false;
  try {
    await api.addReceipt(file, { id }, { onProgress: ({ loaded, total }) => (bar.value = loaded / total) });
  } finally {
    bar.hidden = true;
  }
}

/** Runs an action of the user. A problem is shown in the form, or in the part of the page. */
async function run(action: () => Promise<void>, place: HTMLElement, button?: HTMLButtonElement | null): Promise<void> {
  clearErrors(place);
  if (button) button.disabled = true;
  try {
    await action();
  } catch (error) {
    const isProblem = error instanceof api.GatewayError;
    const isSignedOut = isProblem && error.status === 401;
    if (isSignedOut) await showCaller();
    if (isProblem && place instanceof HTMLFormElement && showFieldErrors(place, error.problem)) return;
    const message = isSignedOut ? 'Your session has ended: sign in again.' : messageOf(error);
    (isSignedOut ? page.welcome : place).querySelector('.problem')!.textContent = message;
  } finally {
    if (button) button.disabled = false;
  }
}

/** Shows errors beside their fields. Returns whether all of them have one. */
function showFieldErrors(form: HTMLFormElement, { errors = [] }: api.IProblem): boolean {
  const found = errors.map(({ pointer, detail }) => {
    const input = form.elements.namedItem(pointer.slice(1));
    if (!(input instanceof HTMLInputElement)) return false;
    const text = document.createElement('small');
    text.className = 'error';
    text.id = `${form.id}-${input.name}-error`;
    text.textContent = detail;
    input.after(text);
    input.ariaInvalid = 'true';
    input.setAttribute('aria-describedby', text.id);
    input.focus();
    return true;
  });
  return found.length > 0 && found.every(Boolean);
}

function clearErrors(place: HTMLElement): void {
  for (const text of place.querySelectorAll('.error')) text.remove();
  for (const input of place.querySelectorAll('input')) input.ariaInvalid = null;
  place.querySelector('.problem')!.textContent = '';
}

function messageOf(error: unknown): string {
  if (!(error instanceof api.GatewayError)) return 'The server cannot be reached. Try again.';
  return error.problem.detail ?? error.problem.title;
}

function toast(text: string): void {
  const message = document.createElement('p');
  message.textContent = text;
  element('toasts').append(message);
  setTimeout(() => message.remove(), 4000);
}

async function signIn(): Promise<void> {
  const value = (name: string): string => inputOf(page.signIn, name).value;
  try {
    await api.signIn({ email: value('email'), password: value('password') });
  } catch (error) {
    if (!(error instanceof api.GatewayError) || error.status !== 404) throw error;
    page.signIn.querySelector('.problem')!.textContent = 'The email or the password is wrong.';
    return;
  }
  page.signIn.reset();
  await showCaller();
}

async function acceptInvitation(): Promise<void> {
  const value = (name: string): string => inputOf(page.invitation, name).value;
  await api.acceptInvitation({ invitation: value('invitation'), password: value('password') });
  page.invitation.reset();
  toast('Your password is set: sign in.');
}

function onSubmit(form: HTMLFormElement, action: () => Promise<void>): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run(action, form, form.querySelector<HTMLButtonElement>('.primary'));
  });
}

function inputOf(form: HTMLFormElement, name: string): HTMLInputElement {
  return form.elements.namedItem(name) as HTMLInputElement;
}

onSubmit(page.signIn, signIn);
onSubmit(page.invitation, acceptInvitation);
onSubmit(page.expense, saveExpense);
element('sign-out').addEventListener('click', () => void run(() => api.signOut().then(showCaller), page.home));
element('add').addEventListener('click', () => edit(null));
page.editor.querySelector('[data-close]')!.addEventListener('click', () => page.editor.close());
page.filters.addEventListener('click', ({ target }) => {
  status = (target as Element).closest('button')?.dataset['status'] ?? status;
  showExpenses(expenses);
});
page.rows.addEventListener('click', ({ target }) => {
  const button = (target as Element).closest('button');
  const id = Number(button?.closest('li')?.dataset['id']);
  const expense = expenses.find((one) => one.id === id);
  if (expense !== undefined) void run(() => actions[button!.dataset['action']!]!(expense), page.home, button);
});
await run(showCaller, page.welcome);
