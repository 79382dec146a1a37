const jestJupyterLab = require('@jupyterlab/testutils/lib/jest-config');

// Modules of these packages are ES modules, which jest has to translate.
const translated = [
  '@codemirror',
  '@jupyter',
  '@jupyterlab',
  '@lumino',
  'lib0',
  'nanoid',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'y-websocket',
  'yjs',
  '@microsoft',
  'exenv-es6',
  'd3-.*',
  'internmap',
  'delaunator',
  'robust-predicates',
  'diff'
];

module.exports = {
  ...jestJupyterLab(__dirname),
  collectCoverage: false,
  reporters: ['default'],
  testRegex: 'src/.*/.*\\.spec\\.tsx?$',
  transformIgnorePatterns: [`/node_modules/(?!(${translated.join('|')})/)`]
};
