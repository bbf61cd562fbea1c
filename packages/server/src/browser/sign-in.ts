/** The sign-in state in the header, and the ways to sign in. */
import { button, element } from './dom.ts';
import type { PageData } from './page-data.ts';
import type { Session } from './session.ts';
import { visibleText } from './visible-text.ts';

export interface SignIn {
  /** The state of the session, in the header. */
  readonly view: HTMLElement;
  /** Shows the ways to sign in, or begins the only one. */
  readonly begin: () => void;
}

/**
 * Returns null for an API without callers.
 * @param open opens the form of an endpoint
 */
export function createSignIn(data: PageData, session: Session, open: (id: string) => void): SignIn | null {
  const { operations, authentication } = data;
  const hasBasic = operations.some(({ access }) => access.basic);
  const isNeeded = hasBasic || authentication.bearer || authentication.cookie;
  if (!isNeeded) return null;
  const dialog = signInDialog(data, session, open);
  const begin = (): void => signIn(data, open, dialog);
  const status = element('span', { role: 'status' });
  const toggle = button('Sign in', 'secondary', () => {
    if (session.state !== null) {
      void signOut(data, session, open)
        .catch(() => 'Not signed out: the server cannot be reached')
        .then((reason) => (status.textContent = reason ?? status.textContent));
    } else begin();
  });
  const update = (): void => {
    const { state } = session;
    status.textContent = state === null ? '' : `Signed in (${state === 'basic' ? 'HTTP Basic' : state})`;
    toggle.textContent = state === null ? 'Sign in' : 'Sign out';
  };
  session.onChange(update);
  update();
  return { view: element('div', { class: 'session' }, status, toggle, dialog), begin };
}

/** The only way of a page needs no choice. */
function signIn({ operations, authentication }: PageData, open: (id: string) => void, dialog: HTMLDialogElement): void {
  const logins = operations.filter(({ loginOrLogout }) => loginOrLogout === 'login');
  const hasFields = authentication.bearer || operations.some(({ access }) => access.basic);
  if (!hasFields && authentication.signInUrl !== null) location.assign(signInAddress(authentication.signInUrl));
  else if (!hasFields && logins.length === 1) open(logins[0]!.id);
  else dialog.showModal();
}

/** The page to return to is the last parameter of the URL; with the fragment, its endpoint is open then. */
function signInAddress(url: string): string {
  return `${ownUrl(url)}${encodeURIComponent(location.hash)}`;
}

/** The origin in front: a path with two slashes would name another host. */
function ownUrl(path: string): string {
  return `${location.origin}${path}`;
}

/**
 * Cookies end with a logout endpoint, or where the sign-in page ends them; tokens and passwords are forgotten.
 * Returns why the caller stays signed in.
 */
async function signOut(
  { operations, authentication }: PageData,
  session: Session,
  open: (id: string) => void,
): Promise<string | null> {
  const logout = operations.find(({ loginOrLogout }) => loginOrLogout === 'logout');
  const { signOutPath } = authentication;
  if (session.state !== 'cookie') session.forget();
  else if (signOutPath !== null && (await session.endCookie(ownUrl(signOutPath)))) return null;
  else if (logout !== undefined) open(logout.id);
  else return signOutPath === null ? 'Signed in (cookie): no logout endpoint' : 'Not signed out: the server refused';
  return null;
}

function signInDialog(
  { operations, authentication }: PageData,
  session: Session,
  open: (id: string) => void,
): HTMLDialogElement {
  const { signInUrl } = authentication;
  const title = element('h2', { id: 'sign-in-title' }, 'Sign in');
  const dialog = element('dialog', { 'aria-labelledby': 'sign-in-title' });
  const logins = operations.filter(({ loginOrLogout }) => loginOrLogout === 'login');
  const close = (): void => dialog.close();
  dialog.append(
    title,
    ...(signInUrl === null
      ? []
      : [
          element(
            'p',
            {},
            button('Open the sign-in page', 'secondary', () => location.assign(signInAddress(signInUrl))),
          ),
        ]),
    ...(logins.length === 0 ? [] : [element('p', {}, 'With a login endpoint:')]),
    ...logins.map(({ id, path }) =>
      button(visibleText(path), 'secondary login', () => {
        close();
        open(id);
      }),
    ),
    ...(authentication.bearer ? [tokenForm(session, close)] : []),
    ...(operations.some(({ access }) => access.basic) ? [basicForm(session, close)] : []),
    element('div', { class: 'actions' }, button('Close', 'secondary', close)),
  );
  return dialog;
}

function tokenForm(session: Session, close: () => void): HTMLElement {
  const token = element('input', { id: 'token', type: 'password', autocomplete: 'off', required: true });
  const note = element(
    'p',
    { class: 'note', id: 'token-note' },
    'It stays in the memory of this page, and is gone after a reload.',
  );
  token.setAttribute('aria-describedby', 'token-note');
  const fields = [labelled('Bearer token', token), note];
  return submitForm(fields, 'Use token', () => {
    session.useToken(token.value.trim());
    token.value = '';
    close();
  });
}

function basicForm(session: Session, close: () => void): HTMLElement {
  const user = element('input', { id: 'basic-user', autocomplete: 'off', required: true });
  const password = element('input', { id: 'basic-password', type: 'password', autocomplete: 'off' });
  const fields = [labelled('User (HTTP Basic)', user), labelled('Password', password)];
  return submitForm(fields, 'Use password', () => {
    session.useBasic(user.value, password.value);
    password.value = '';
    close();
  });
}

function labelled(text: string, input: HTMLInputElement): HTMLElement {
  return element('div', { class: 'field' }, element('label', { for: input.id }, text), input);
}

function submitForm(fields: readonly HTMLElement[], text: string, onSubmit: () => void): HTMLFormElement {
  const form = element('form', {}, ...fields, element('button', { type: 'submit', class: 'primary' }, text));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onSubmit();
  });
  return form;
}
