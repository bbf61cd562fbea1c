/** The form of the sign-in page: calls the login endpoint, and continues at the path that the page was opened for. */

const form = document.querySelector<HTMLFormElement>('#password-form')!;
const user = document.querySelector<HTMLInputElement>('#user')!;
const password = document.querySelector<HTMLInputElement>('#password')!;
const message = document.querySelector<HTMLElement>('#message')!;
const submit = form.querySelector('button')!;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void signIn();
});

async function signIn(): Promise<void> {
  message.textContent = '';
  submit.disabled = true;
  try {
    const failure = await login();
    if (failure === null) {
      location.assign(form.dataset['returnPath']!);
      return;
    }
    show(failure);
  } catch {
    show('The server cannot be reached. Try again.');
  }
  submit.disabled = false;
  password.select();
}

/** Returns the reason of a failure. */
async function login(): Promise<string | null> {
  const { path, userKey, passwordKey } = form.dataset;
  const response = await fetch(path!, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ [userKey!]: user.value, [passwordKey!]: password.value }),
  });
  if (response.ok) return null;
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/plain')) return response.text();
  if (response.status === 401 || response.status === 404)
    return `The ${labelOf(user)} or the ${labelOf(password)} is wrong.`;
  if (!type.startsWith('application/problem+json')) return `The sign-in failed with status ${response.status}.`;
  return ((await response.json()) as { readonly title: string }).title;
}

function labelOf(input: HTMLInputElement): string {
  return input.labels![0]!.textContent.toLowerCase();
}

function show(text: string): void {
  message.textContent = text;
}

export {};
