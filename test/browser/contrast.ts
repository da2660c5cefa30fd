/**
 * Texts of the page whose colour is too near to their ground's: less than 4.5, or 3 where they are large (WCAG 2.2, 1.4.3).
 * Runs in the browser, so it stands alone.
 */
export function contrastFaults(): { faults: string[]; checked: number } {
  const channels = (color: string): number[] => (/rgba?\(([^)]*)\)/.exec(color)?.[1] ?? '').split(',').map(Number);
  const luminance = ([r = 0, g = 0, b = 0]: number[]): number => {
    const [x = 0, y = 0, z = 0] = [r, g, b].map((one) => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const groundOf = (element: Element | null): number[] => {
    for (let one = element; one !== null; one = one.parentElement) {
      const color = channels(getComputedStyle(one).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const faults: string[] = [];
  let checked = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent?.trim() ?? '';
    if (element === null || text === '' || element.closest('script, style') !== null) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const lights = [luminance(channels(color)), luminance(groundOf(element))].sort((a, b) => b - a);
    const ratio = ((lights[0] ?? 0) + 0.05) / ((lights[1] ?? 0) + 0.05);
    const large = parseFloat(fontSize) >= 24 || (parseFloat(fontSize) >= 18.66 && Number(fontWeight) >= 700);
    checked++;
    if (ratio < (large ? 3 : 4.5)) faults.push(`${ratio.toFixed(2)} ${color}: ${text.slice(0, 40)}`);
  }
  return { faults, checked };
}
