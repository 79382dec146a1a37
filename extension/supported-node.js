// Exits with 0 if this Node.js can build the front end: the bundler's package.json says with which.
const [major, minor] = process.versions.node.split('.').map(Number);
const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
process.exit(isSupported ? 0 : 1);
