// In the manifests of Node's binaries, `os` and `cpu` are texts. pnpm reads only lists there, and would
// install the binaries of every platform.
export const hooks = {
  readPackage: (manifest) => ({
    ...manifest,
    ...(typeof manifest.os === 'string' && { os: [manifest.os] }),
    ...(typeof manifest.cpu === 'string' && { cpu: [manifest.cpu] }),
  }),
};
