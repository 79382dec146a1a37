import { contentsPath } from '../contentspath';

const STATUS = { roots: ['/home/user/tea', '/data/tea'], shows_hidden: false };

describe('contentsPath', () => {
  it('knows a file below the root, by whichever of its names', () => {
    expect(contentsPath(STATUS, '/home/user/tea/lib/kettle.py')).toBe('lib/kettle.py');
    expect(contentsPath(STATUS, '/data/tea/kettle.py')).toBe('kettle.py');
    expect(contentsPath({ ...STATUS, roots: ['/'] }, '/srv/kettle.py')).toBe('srv/kettle.py');
  });

  it('knows no path of what the server does not serve', () => {
    expect(contentsPath(STATUS, '/home/user/teapot/kettle.py')).toBeNull();
    expect(contentsPath(STATUS, '/home/user/tea/.venv/lib/kettle.py')).toBeNull();
    expect(contentsPath(STATUS, null)).toBeNull();
    expect(contentsPath(null, '/home/user/tea/kettle.py')).toBeNull();
  });

  it('opens hidden files where the server serves them', () => {
    const status = { ...STATUS, shows_hidden: true };

    expect(contentsPath(status, '/home/user/tea/.venv/kettle.py')).toBe('.venv/kettle.py');
  });
});
