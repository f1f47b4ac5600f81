/** The scroll position of each page, by address. */
const scrolls = new Map<string, number>();
let backTo: number | undefined;
let wantsSearch = false;

// A page's content arrives later, so the browser would scroll too early.
history.scrollRestoration = 'manual';
window.addEventListener('scroll', () => scrolls.set(window.location.href, window.scrollY), { passive: true });
window.addEventListener('popstate', () => {
  backTo = scrolls.get(window.location.href) ?? 0;
});
window.addEventListener('pushState', () => {
  backTo = undefined;
});

/** Returns whether the user came by back or forward, not by a link. Then the data and the scroll position are kept. */
export const cameBack = (): boolean => backTo !== undefined;

/** Scrolls to the top, or to where the reader was before. */
export const scrollToPlace = (): void => window.scrollTo(0, backTo ?? 0);

/** Focuses the search field of the view, now or when it appears. */
export function askForSearch(): void {
  const field = document.querySelector<HTMLInputElement>('[data-search]');
  wantsSearch = field === null;
  field?.focus();
}

/** Called for a search field that has just appeared. */
export function takeSearch(field: HTMLInputElement | null): void {
  if (!wantsSearch || field === null) return;
  wantsSearch = false;
  field.focus();
}
