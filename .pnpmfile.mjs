// The packages of Node's binaries name their platform as a text. Without a list, pnpm would install the
// binaries of every platform.
export const hooks = {
  readPackage: (manifest) => ({
    ...manifest,
    ...(typeof manifest.os === 'string' && { os: [manifest.os] }),
    ...(typeof manifest.cpu === 'string' && { cpu: [manifest.cpu] }),
  }),
};
