// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace karst {

/// Style of a report, on screen and printed.
inline constexpr const char* report_style = R"(
:root{color-scheme:light;--ink:#1d2733;--soft:#5b6673;--line:#d9dee5;--ground:#f5f7f9;--accent:#1f5a8c}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.45 system-ui,"Segoe UI","Liberation Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:22px 26px 40px}
h1{font-size:25px;margin:0;font-weight:650;overflow-wrap:anywhere}
h2{font-size:17px;margin:0 0 8px;font-weight:650}p{margin:0 0 8px}
.soft{color:var(--soft);font-size:13.5px}
.source{color:var(--soft);margin:2px 0 14px;overflow-wrap:anywhere}
.card{background:#fff;border:1px solid var(--line);border-radius:6px;padding:14px 16px;margin:0 0 14px}
.warnings{background:#fff6e0;border:1px solid #e0a100;border-left:7px solid #e0a100;border-radius:6px;padding:10px 16px;margin:0 0 14px}
.warnings ul{margin:4px 0 0;padding-left:20px;overflow-wrap:anywhere}
.stopped{background:#fdecea;border:1px solid #b3261e;border-left:7px solid #b3261e;border-radius:6px;padding:10px 16px;margin:0 0 14px;overflow-wrap:anywhere}
.fine{background:#eef6f1;border:1px solid #b5d3c2;border-left:7px solid #4f9a73;border-radius:6px;padding:7px 16px;margin:0 0 14px}
.tiles{display:grid;grid-template-columns:repeat(var(--n,4),minmax(0,1fr));gap:12px;margin:0 0 14px}
.tile{background:#fff;border:1px solid var(--line);border-radius:6px;padding:10px 14px}
.tile .name{color:var(--soft);font-size:13px}
.tile .value{font-size:24px;font-weight:650;color:var(--accent);line-height:1.25;overflow-wrap:anywhere}
.each{display:inline-block;margin-right:.45em}
.tile .unit{display:inline-block;margin-left:.3em;font-size:15px;font-weight:400}
.tile .more{font-size:13px;overflow-wrap:anywhere}
.tile .no{color:#b3261e}
.pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:0 14px}
.pair>*{min-width:0;display:flex;flex-direction:column}
.pair>*>:last-child{flex:1}
svg.chart{display:block;width:100%;max-width:580px;height:auto;font:14px system-ui,"Segoe UI","Liberation Sans",sans-serif;fill:var(--ink)}
svg .grid{stroke:#e6eaef;stroke-width:1}svg .axis{stroke:#6b7683;stroke-width:1}
svg .mark{stroke:#b3261e;stroke-width:1.3;stroke-dasharray:4 3}
svg .line{fill:none;stroke-width:1.9;stroke-linejoin:round}
svg .point{stroke-width:6.5;stroke-linecap:round}svg .label{fill:var(--soft)}
svg .word{font-weight:650}svg .halo{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
svg.body{display:block;width:100%;max-width:760px;height:auto;margin:0 auto;font:20px system-ui,"Segoe UI","Liberation Sans",sans-serif;fill:var(--ink)}
.slices{display:grid;grid-template-columns:repeat(var(--n,2),minmax(0,1fr));gap:10px 14px;align-items:end}
.slices figure{margin:0;text-align:center}
.slices figcaption{font-size:13px;color:var(--soft);margin-top:3px}
.stack{position:relative;display:block;margin:0 auto;border:1px solid #b9c1ca}
.stack img{display:block;width:100%;height:100%;image-rendering:pixelated}
.stack .wall{position:absolute;left:0;top:0;image-rendering:auto}
.ruler{position:absolute;right:2.5%;bottom:2.5%;border-bottom:4px solid #fff;background:#1d2733b0;color:#fff;font-size:12px;line-height:1.35;white-space:nowrap;display:flex;justify-content:flex-end;text-shadow:0 0 3px #000;box-shadow:0 2px 0 #1d2733}
#wall:not(:checked)~.slices .wall{display:none}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:10px 0 6px;font-size:13px}
.swatch{display:inline-block;width:14px;height:12px;border:1px solid #0003;margin-right:6px;vertical-align:-1px}
.swatch.thin{height:3px;border:0;vertical-align:4px}
.scroll{overflow-x:auto;margin:0 0 6px}.scroll tr>:first-child{position:sticky;left:0;background:#fff;min-width:7.5em;max-width:45vw;overflow-wrap:anywhere}
table{border-collapse:separate;border-spacing:0;width:100%;font-size:14px}
th{text-align:left;font-weight:650;color:var(--soft);font-size:13px}
th,td{padding:4px 12px 4px 0;border-bottom:1px solid #edf0f3;vertical-align:top}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;padding-right:0;padding-left:8px}
th.n{white-space:normal}
td.n+td:not(.n){padding-left:10px}
.bar{display:block;height:12px;min-width:1px;border:1px solid #0002}
.made td:first-child{width:30%;color:var(--soft)}
.made td{overflow-wrap:anywhere}
details h2{margin-top:14px}
pre{font-size:12px;white-space:pre-wrap;overflow-wrap:anywhere;margin:0}
summary{cursor:pointer;font-size:17px;font-weight:650}
footer{color:var(--soft);font-size:13px}
@media screen and (max-width:820px){.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}.pair,.slices{grid-template-columns:minmax(0,1fr)}
.slices.compare{grid-auto-flow:column;grid-template-columns:repeat(2,minmax(0,1fr));grid-template-rows:repeat(var(--rows),auto);align-items:start}}
@media screen and (max-width:480px){main{padding:14px 10px 30px}h1{font-size:21px}.card{padding:11px 12px}.tiles{gap:8px}.tile{padding:8px 10px}.tile .value{font-size:19px}.made td:first-child{width:36%}}
@page{size:A4;margin:12mm}
@media print{.scroll{overflow:visible}body{background:#fff;font-size:12px}main{max-width:none;padding:0}.card,.tile,figure,.warnings{break-inside:avoid}
h2{break-after:avoid;font-size:14px}.tile .value{font-size:17px}.tile .unit{font-size:12px}.tile .name,.tile .more,.soft{font-size:10.5px}.tiles,.pair{gap:8px}.tile{padding:6px 8px}.card{padding:8px 10px;margin-bottom:8px}table,th{font-size:11px}.toggle{display:none}details::details-content{content-visibility:visible;block-size:auto}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)";

}  // namespace karst
