/** The address of the store: the page's own, with any path prefix that a proxy adds. */
export function baseUrl(): string {
  return new URL('.', document.baseURI).href;
}
