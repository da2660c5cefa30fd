/** The page's look. Colours have a contrast of 4.5 and more on their grounds, in both schemes (test/http/docs-page.test.ts). */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f2f4f7; --text: #1a1f26; --quiet: #515b66; --line: #8b95a1;
  --link: #0a4fa8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10151b; --raised: #1b232c; --text: #e8edf2; --quiet: #a9b4bf; --line: #6d7985;
    --link: #86bdff;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
body > header, #content, body > footer { max-width: 76rem; margin: 0 auto; padding: 1rem; }
h1 { margin: 0; font-size: 1.7rem; } h2 { margin: 0 0 .5rem; font-size: 1.3rem; } h3 { margin: 1.25rem 0 .4rem; font-size: 1.05rem; }
p { margin: .4rem 0; } a { color: var(--link); } ul { padding-left: 1.2rem; }
code, pre { font: .9em/1.5 ui-monospace, SFMono-Regular, Consolas, monospace; }
pre { margin: 0; padding: .75rem; overflow: auto; max-height: 28rem; background: var(--raised); border-radius: .4rem; }
section, article { margin: 0 0 1.5rem; padding: 1rem 0 0; border-top: 1px solid var(--line); }
.skip { position: absolute; left: -99rem; } .skip:focus { left: .5rem; top: .5rem; background: var(--ground); padding: .5rem; z-index: 1; }
.quiet, dt { color: var(--quiet); }
.scroll { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
caption { text-align: left; color: var(--quiet); padding: .3rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); }
td { min-width: 6rem; max-width: 34rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; } dd { margin: 0; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
@media (min-width: 60rem) {
  #content { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2rem; align-items: start; }
  #content > nav { position: sticky; top: 1rem; max-height: 95vh; overflow-y: auto; }
}
`;
