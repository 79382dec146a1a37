import { ServerStatus } from './protocol';

/** The path by which the server serves a file; null if it does not. */
export function contentsPath(
  status: Pick<ServerStatus, 'roots' | 'shows_hidden'> | null,
  file: string | null
): string | null {
  const root = status?.roots.find(one => file?.startsWith(one.replace(/\/*$/, '/')));
  if (!status || root === undefined || !file) {
    return null;
  }
  const path = file.slice(root.replace(/\/*$/, '/').length);
  const isHidden = path.split('/').some(part => part.startsWith('.'));
  return isHidden && !status.shows_hidden ? null : path;
}
