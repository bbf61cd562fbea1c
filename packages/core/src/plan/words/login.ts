import type { Draft } from '../draft.ts';
import { switchValue } from '../switch-words.ts';
import type { Complaint, Word, WordUse } from '../word.ts';

function signs(which: 'login' | 'logout'): Word['apply'] {
  return (use: WordUse, draft: Draft): Complaint | null => {
    if (draft.settings.signIn !== null && draft.settings.signIn !== which) {
      return {
        code: 'contradiction',
        message: `${use.name} and ${draft.settings.signIn} contradict each other; keep one of them`,
      };
    }
    if (draft.routine.table !== undefined) {
      return { code: 'not-a-routine', message: `${use.name} is for functions: a table signs nobody in or out` };
    }
    if (use.form === 'assignment') {
      const value = switchValue(use.text);
      if (value !== null) {
        draft.set(use, 'signIn', value ? which : null);
        return null;
      }
    }
    draft.set(use, 'signIn', which);
    if (use.words.length === 0) return null;
    return { code: 'extra-arguments', message: `${use.name} takes nothing behind it`, leftover: use.words };
  };
}

export const login: Word = {
  names: ['login', 'signin'],
  syntax: ['login'],
  documentation:
    'The routine signs its caller in: its row tells who that is. Columns `status`, `message`, `scheme` and `hash` steer the sign-in, all others become claims. No row, or a status that is not success: 401, or that status.',
  guards: true,
  supported: true,
  apply: signs('login'),
};

export const logout: Word = {
  names: ['logout', 'signout'],
  syntax: ['logout'],
  documentation: 'The routine signs its caller out, of the schemes that its values name, or of the default one.',
  guards: true,
  supported: true,
  apply: signs('logout'),
};
