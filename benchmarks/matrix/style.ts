// How the page looks, in light and in dark.

export const style = `
:root { color-scheme: light dark; --page: light-dark(#fff, #16191d); --line: light-dark(#d5d8dc, #3d434b); --faint: light-dark(#5c6470, #a3abb6);
  --ahead: light-dark(#0b6e4f, #3fb68b); --undecided: light-dark(#8d99ae, #7c879b); --behind: light-dark(#c4550c, #f08c4a) }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: light-dark(#1d2129, #e4e7eb); background: var(--page) }
h1 { font-size: 1.6rem; line-height: 1.2 }
h2 { font-size: 1.2rem; margin-top: 2.5rem }
.lead { font-size: 1.15rem; margin: 0.6rem 0 }
.warning { border-left: 4px solid var(--behind); padding-left: 0.7rem; margin: 0.6rem 0 }
.faint, caption, dt { color: var(--faint) }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { text-align: left; padding-bottom: 0.3rem }
th { font-weight: 600 }
details { border-top: 1px solid var(--line); padding: 0.6rem 0 }
summary { cursor: pointer; font-weight: 600 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem }
dd { margin: 0 }

.ratios { width: 100% }
.ratios th, .ratios td { text-align: left; padding: 0; white-space: nowrap }
.ratios th[scope=rowgroup] { padding-top: 0.7rem; white-space: normal }
.ratios td:first-child { padding-right: 0.8rem }
.ratios .figure { text-align: right; padding: 0 0.8rem }
.ratios .plot { position: relative; width: 100%; height: 1.5rem;
  background: linear-gradient(var(--faint) 0 0) var(--even) 0 / 2px 100% no-repeat, repeating-linear-gradient(90deg, var(--line) 0 1px, transparent 1px var(--decade)) }
.ratios thead .plot { background: none }
.ratios .plot i { position: absolute }
.ratios thead i { font: 0.8rem system-ui; color: var(--faint); transform: translateX(-50%) }
.ratios thead i:first-child { transform: none }
.ratios thead i:last-child { transform: translateX(-100%) }
.bar { background: var(--ahead); forced-color-adjust: none; top: 0.25rem; height: 1rem }
.undecided .bar { background: var(--undecided) }
.behind .bar { background: var(--behind) }
.spread { border: solid currentColor; border-width: 0 2px; forced-color-adjust: none; top: 0.5rem; height: 0.5rem; box-sizing: border-box; color: light-dark(#1d2129, #e4e7eb);
  background: linear-gradient(currentColor 0 0) 0 50% / 100% 2px no-repeat }
.key i { display: inline-block; width: 2.2rem; vertical-align: -0.1rem }

.wide { overflow-x: auto }
.wide table { font-size: 0.8rem }
.wide th, .wide td { padding: 2px 8px; text-align: right; white-space: pre-line; vertical-align: bottom }
.wide td, .wide th.work { white-space: nowrap }
.wide th.work, .wide .muxer { text-align: left }
.wide th.work { vertical-align: top; position: sticky; left: 0; background: var(--page) }
.wide thead th { border-bottom: 2px solid var(--line) }
.wide tbody { border-bottom: 1px solid var(--line) }
.wide tr.ours td { background: light-dark(#e8eefa, #1a2540) }

@media (max-width: 40rem) {
  .ratios tr { display: grid; grid-template-columns: 1fr auto 5rem }
  .ratios .plot { grid-column: 1 / -1; order: 1; margin-bottom: 0.3rem }
  .ratios [scope=rowgroup] { grid-column: 1 / -1 }
  dl:not(.key) { grid-template-columns: 1fr }
}
`
