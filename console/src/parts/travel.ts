/** Where each page was scrolled to, by its address. */
const scrolls = new Map<string, number>();
let backTo: number | undefined;
let wantsSearch = false;

// What a page shows comes after it, so the browser would scroll too early.
history.scrollRestoration = 'manual';
window.addEventListener('scroll', () => scrolls.set(window.location.href, window.scrollY), { passive: true });
window.addEventListener('popstate', () => {
  backTo = scrolls.get(window.location.href) ?? 0;
});
window.addEventListener('pushState', () => {
  backTo = undefined;
});

/** Whether the way here was back or forth, and no link: what was read stays, and so does the place in it. */
export const cameBack = (): boolean => backTo !== undefined;

/** To the top, or where the reader was before. */
export const scrollToPlace = (): void => window.scrollTo(0, backTo ?? 0);

/** The search field of the view takes the focus, at once or when it is there. */
export function askForSearch(): void {
  const field = document.querySelector<HTMLInputElement>('[data-search]');
  wantsSearch = field === null;
  field?.focus();
}

/** For a search field that has just come. */
export function takeSearch(field: HTMLInputElement | null): void {
  if (!wantsSearch || field === null) return;
  wantsSearch = false;
  field.focus();
}
