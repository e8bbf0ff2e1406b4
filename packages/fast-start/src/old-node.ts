/**
 * Returns an error message when this version of Node is too old for our programs. Node links static imports
 * before it runs any code, and an old version of Node throws an error in this step. A program therefore calls
 * this function first, and then loads the other code with `import()`.
 */
export function explainOldNode(): string | undefined {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return undefined;
  return `plant-store: this is Node ${node}: install Node 22.18 or newer, and run it again`;
}
