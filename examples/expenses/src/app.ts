import * as api from './api.ts';

type Expense = api.IListExpensesResponse;

const page = {
  caller: element('caller', HTMLElement),
  name: element('name', HTMLElement),
  signOut: element('sign-out', HTMLButtonElement),
  problem: element('problem', HTMLElement),
  signIn: element('sign-in', HTMLFormElement),
  invitation: element('invitation', HTMLFormElement),
  expenses: element('expenses', HTMLElement),
  expense: element('expense', HTMLFormElement),
  rows: element('rows', HTMLTableSectionElement),
  row: element('row', HTMLTemplateElement),
};

let changes: api.EventStream | null = null;
let isApprover = false;
/** The expense in the form; null: a new one. */
let edited: Expense | null = null;
let reads = 0;
/** The list on the page, as JSON. */
let shown = '';

/** Shows the page of the caller: the list, or the forms to sign in. */
async function showCaller(): Promise<void> {
  const { name, roles } = await api.me();
  const isSignedIn = name !== null;
  isApprover = roles?.includes('approver') ?? false;
  page.name.textContent = name;
  page.caller.hidden = page.expenses.hidden = !isSignedIn;
  page.signIn.hidden = page.invitation.hidden = isSignedIn;
  changes?.close();
  changes = isSignedIn ? followChanges() : null;
  if (isSignedIn) await showExpenses();
  else hideExpenses();
}

/** Reads the list again after each change, and when events may have been missed. */
function followChanges(): api.EventStream {
  const stream = api.listExpensesEvents();
  const refresh = (): void => void report(showExpenses);
  // A change before the stream is open has no event.
  stream.addEventListener('open', refresh);
  stream.addEventListener('message', refresh);
  stream.addEventListener('gap', refresh);
  return stream;
}

async function showExpenses(): Promise<void> {
  const read = (reads += 1);
  const expenses = await api.listExpenses();
  const text = JSON.stringify(expenses);
  // A later read may have overtaken this one. Rows that stay as they are keep the focus.
  if (read !== reads || text === shown) return;
  shown = text;
  page.rows.replaceChildren(...expenses.map(rowOf));
}

/** Also drops the result of a read that still runs. */
function hideExpenses(): void {
  reads += 1;
  shown = '';
  page.rows.replaceChildren();
}

function rowOf(expense: Expense): Node {
  const row = page.row.content.cloneNode(true) as DocumentFragment;
  const { spentOn, owner, description, amount, status } = expense;
  const texts = [spentOn, owner, description, amount?.toFixed(2), status];
  const cells = [...row.querySelectorAll('td')];
  // Text of users is never HTML.
  texts.forEach((text, index) => (cells[index]!.textContent = text ?? ''));
  cells[5]!.append(...receiptOf(expense));
  cells[6]!.append(...actionsOf(expense));
  return row;
}

function receiptOf({ receipt, description }: Expense): readonly Node[] {
  if (receipt === null) return [];
  const image = new Image();
  image.src = receipt;
  image.alt = `Receipt of ${description}`;
  return [image];
}

function actionsOf(expense: Expense): readonly Node[] {
  const id = expense.id!;
  if (expense.status !== 'submitted') return [];
  if (expense.mine) {
    return [
      button('Edit', async () => edit(expense)),
      button('Withdraw', () => change(() => api.withdrawExpense({ id }))),
      upload('Receipt', (file) => api.addReceipt(file, { id })),
    ];
  }
  if (!isApprover) return [];
  return [
    button('Approve', () => change(() => api.decide({ id, approved: true }))),
    button('Reject', () => change(() => api.decide({ id, approved: false }))),
  ];
}

function button(label: string, run: () => Promise<void>): Node {
  const created = document.createElement('button');
  created.type = 'button';
  created.textContent = label;
  created.addEventListener('click', () => void act(run));
  return created;
}

function upload(label: string, send: (file: File) => Promise<void>): Node {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = 'image/png,image/jpeg';
  input.ariaLabel = label;
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    if (file !== undefined) void act(() => change(() => send(file)));
  });
  return input;
}

function edit(expense: Expense): void {
  edited = expense;
  const { description, amount, spentOn } = expense;
  const values = { description, amount, spentOn };
  for (const [name, value] of Object.entries(values)) inputOf(page.expense, name).value = String(value);
  page.expense.querySelector('h2')!.textContent = 'Edit expense';
}

/** Runs a call that changes the list. The event stream reports it too, but may be interrupted. */
async function change(run: () => Promise<unknown>): Promise<void> {
  await run();
  await showExpenses();
}

/** Runs an action of the user, without the problem of the one before. */
async function act(run: () => Promise<void>, form: HTMLFormElement | null = null): Promise<void> {
  page.problem.textContent = '';
  if (form !== null) clearFieldErrors(form);
  await report(run, form);
}

/** Shows the problem when the function fails. */
async function report(run: () => Promise<void>, form: HTMLFormElement | null = null): Promise<void> {
  try {
    await run();
  } catch (error) {
    const isSignedOut = error instanceof api.GatewayError && error.status === 401;
    const isShown = form !== null && error instanceof api.GatewayError && showFieldErrors(form, error.problem);
    if (!isShown) page.problem.textContent = isSignedOut ? 'Your session has ended: sign in again.' : messageOf(error);
    if (isSignedOut) await showCaller();
  }
}

/** Shows errors beside their fields. Returns whether all of them have one. */
function showFieldErrors(form: HTMLFormElement, { errors = [] }: api.IProblem): boolean {
  const shown = errors.map(({ pointer, detail }) => {
    const input = form.elements.namedItem(pointer.slice(1));
    if (!(input instanceof HTMLInputElement)) return false;
    const text = document.createElement('small');
    text.className = 'error';
    text.textContent = detail;
    input.after(text);
    input.ariaInvalid = 'true';
    return true;
  });
  return shown.length > 0 && shown.every(Boolean);
}

function clearFieldErrors(form: HTMLFormElement): void {
  for (const text of form.querySelectorAll('.error')) text.remove();
  for (const input of form.querySelectorAll('input')) input.ariaInvalid = null;
}

function messageOf(error: unknown): string {
  if (!(error instanceof api.GatewayError)) return 'The server cannot be reached. Try again.';
  return error.problem.detail ?? error.problem.title;
}

async function signIn(): Promise<void> {
  const [email, password] = [inputOf(page.signIn, 'email').value, inputOf(page.signIn, 'password').value];
  try {
    await api.signIn({ email, password });
  } catch (error) {
    if (!(error instanceof api.GatewayError) || error.status !== 404) throw error;
    page.problem.textContent = 'Email or password are wrong.';
    return;
  }
  page.signIn.reset();
  await showCaller();
}

async function acceptInvitation(): Promise<void> {
  const value = (name: string): string => inputOf(page.invitation, name).value;
  await api.acceptInvitation({ invitation: value('invitation'), password: value('password') });
  page.invitation.reset();
  page.invitation.querySelector('[role=status]')!.textContent = 'Your password is set: sign in.';
}

async function saveExpense(): Promise<void> {
  const value = (name: string): string => inputOf(page.expense, name).value;
  const expense = { description: value('description'), amount: Number(value('amount')), spentOn: value('spentOn') };
  const saved = edited;
  await (saved === null ? api.addExpense(expense) : api.changeExpense({ id: saved.id!, ...expense }));
  // The stream may have shown the row already, and the user may edit it.
  if (edited === saved) page.expense.reset();
  await showExpenses();
}

function onSubmit(form: HTMLFormElement, run: () => Promise<void>): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void act(run, form);
  });
}

function element<Type extends HTMLElement>(id: string, type: new () => Type): Type {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`the page has no ${type.name} with the id ${id}`);
  return found;
}

function inputOf(form: HTMLFormElement, name: string): HTMLInputElement {
  return form.elements.namedItem(name) as HTMLInputElement;
}

onSubmit(page.signIn, signIn);
onSubmit(page.invitation, acceptInvitation);
onSubmit(page.expense, saveExpense);
page.expense.addEventListener('reset', () => {
  edited = null;
  clearFieldErrors(page.expense);
  page.expense.querySelector('h2')!.textContent = 'New expense';
});
page.signOut.addEventListener(
  'click',
  () =>
    void act(async () => {
      await api.signOut();
      await showCaller();
    }),
);
await report(showCaller);
