export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const name = 'nowserving-theme';

export function currentTheme(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(name)) ?? 'auto';
  } catch {
    return 'auto'; // storage is blocked
  }
}

export function showTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(name, theme);
  } catch {
    // The theme then applies only to this page.
  }
}
