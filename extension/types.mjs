// Makes src/protocol.ts from the Python models, or says with --check that it is stale.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';
import { format, resolveConfig } from 'prettier';

const FILE = new URL('src/protocol.ts', import.meta.url).pathname;
const HEAD = `/*
 * What travels between the server and the front end. Made from exploracoder_jupyter/protocol.py:
 * change that, then say \`npm run types\`.
 */
`;

const python = process.env.PYTHON ?? 'python';
const schema = JSON.parse(
  execFileSync(python, ['-m', 'exploracoder_jupyter.schema'], { encoding: 'utf-8' })
);
const made = await compile({ ...schema, title: 'Protocol' }, 'Protocol', {
  additionalProperties: false,
  bannerComment: HEAD,
  format: false,
  ignoreMinAndMaxItems: true,
  unreachableDefinitions: true
});
// The definitions need a root, which nothing uses; and each says that the root names it.
const types = made
  .replace(/export interface Protocol \{[^}]*\}\n?/, '')
  .replace(/\/\*\*\s*\* This interface was referenced by[^/]*\*\/\n/g, '');
const wanted = await format(types, { ...(await resolveConfig(FILE)), filepath: FILE });

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, wanted);
} else if (readFileSync(FILE, 'utf-8') !== wanted) {
  console.error('src/protocol.ts is not what the Python models say. Run: npm run types');
  process.exit(1);
}
