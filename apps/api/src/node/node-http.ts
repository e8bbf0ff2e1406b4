/**
 * Values of Node's `http`. An `import` of that module reads all its exports; one of them loads Node's
 * WebSocket and `fetch`, which takes 40 ms of CPU time at each start.
 */
export const { maxHeaderSize, METHODS, STATUS_CODES } = process.getBuiltinModule('node:http');
