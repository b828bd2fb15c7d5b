"use strict";
// Draws every figure of the page from the JSON beside it. Colours of text and lines are those of
// the style sheet, so that charts follow dark mode and paper.

const charts = JSON.parse(document.getElementById("charts").textContent);
const kDashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2]];
const kMarkers = { thread_pool: "rect", stackless: "triangle", sync_over_async: "rectRot" };
const kRowHeight = 46;
const kNarrow = 420;
let drawn = [];

function palette() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  return { ink: of("ink"), muted: of("muted"), line: of("line"), page: of("page") };
}

function readable(value) {
  const size = Math.abs(value);
  const digits = size >= 99.95 || Math.abs(value - Math.round(value)) < 1e-9 ? 0 : size >= 9.995 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function named(series) {
  return series.label + (series.verdict && series.verdict !== "valid" ? ` (${series.verdict})` : "");
}

// On a logarithmic axis only 1, 2 and 5 of each decade are named; of three decades and more, 1.
function logTick(value, ticks) {
  const first = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  const decades = Math.log10(ticks[ticks.length - 1].value / ticks[0].value);
  const shown = decades > 2 ? [1] : [1, 2, 5];
  if (!shown.some((digit) => Math.abs(first - digit) < 1e-6)) return null;
  return value >= 1 ? value.toLocaleString("en-US") : String(Number(value.toPrecision(2)));
}

function scale(axis, colours, more) {
  const isNamed = axis.categories.length > 0;
  return Object.assign({
    type: axis.log ? "logarithmic" : "linear",
    title: { display: axis.title !== "", text: axis.title, color: colours.muted },
    grid: { color: colours.line, borderColor: colours.muted, tickColor: colours.line },
    ticks: {
      color: colours.muted, maxRotation: 0, stepSize: isNamed ? 1 : undefined,
      callback: isNamed ? (value) => axis.categories[value]
        : axis.log ? (value, index, ticks) => logTick(value, ticks)
        : (value) => value.toLocaleString("en-US"),
    },
  }, more);
}

// A dashed upright line for each mark; the names stand above the plot, one line each.
function drawMarks(chart, marks, colours) {
  const { ctx, chartArea: area, scales: { x } } = chart;
  ctx.save();
  ctx.font = "12px " + Chart.defaults.font.family;
  marks.forEach((mark, index) => {
    const at = x.getPixelForValue(mark.x);
    const top = area.top - 10 - 17 * index;
    ctx.strokeStyle = colours.ink;
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(at, area.bottom);
    ctx.lineTo(at, top - 6);
    ctx.stroke();
    const width = ctx.measureText(mark.label).width;
    const isLeft = at - 6 - width >= 0;
    ctx.fillStyle = colours.page;
    ctx.fillRect(isLeft ? at - 8 - width : at + 4, top - 8, width + 4, 15);
    ctx.fillStyle = colours.ink;
    ctx.textAlign = isLeft ? "right" : "left";
    ctx.textBaseline = "middle";
    ctx.fillText(mark.label, isLeft ? at - 6 : at + 6, top);
  });
  ctx.restore();
}

// What a bar carries besides its length: its name above it, whisker, prediction, published marks.
function drawBarExtras(chart, data, colours) {
  const { ctx, scales: { x, y } } = chart;
  const upright = (value, at, half, width) => {
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.moveTo(x.getPixelForValue(value), at - half);
    ctx.lineTo(x.getPixelForValue(value), at + half);
    ctx.stroke();
  };
  // Whatever lines run behind a name, it stays readable; where it is too long it ends in dots.
  const write = (text, font, left, at) => {
    ctx.font = font;
    ctx.lineWidth = 4;
    ctx.lineJoin = "round";
    ctx.strokeStyle = colours.page;
    ctx.strokeText(text, left, at);
    ctx.fillText(text, left, at);
    return ctx.measureText(text).width;
  };
  const size = (chart.width < kNarrow ? "12px " : "13px ") + Chart.defaults.font.family;
  ctx.save();
  ctx.textBaseline = "alphabetic";
  data.series.forEach((series, index) => {
    const at = y.getPixelForValue(index) + 8;
    const left = x.getPixelForValue(0) + 2;
    const value = readable(series.points[0].x);
    let name = named(series);
    ctx.fillStyle = colours.ink;
    ctx.font = "600 " + size;
    const room = chart.width - left - ctx.measureText(value).width - 12;
    ctx.font = size;
    while (name.length > 4 && ctx.measureText(name).width > room) name = name.slice(0, -2).trimEnd() + "…";
    const width = write(name, size, left, at - 13);
    write(value, "600 " + size, left + width + 8, at - 13);
    ctx.strokeStyle = colours.ink;
    if (series.low !== undefined && series.high > series.low) {
      upright(series.low, at, 3, 1.5);
      upright(series.high, at, 3, 1.5);
      ctx.beginPath();
      ctx.moveTo(x.getPixelForValue(series.low), at);
      ctx.lineTo(x.getPixelForValue(series.high), at);
      ctx.stroke();
    }
    if (series.predicted !== undefined) upright(series.predicted, at, 10, 3);
    for (const value of series.published) {
      const middle = x.getPixelForValue(value);
      ctx.strokeStyle = colours.muted;
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      for (const [dx, dy] of [[0, -6], [6, 0], [0, 6], [-6, 0]]) ctx.lineTo(middle + dx, at + dy);
      ctx.closePath();
      ctx.stroke();
    }
  });
  ctx.restore();
}

function bars(data, canvas, colours) {
  canvas.parentNode.style.height = 62 + 17 * data.marks.length + kRowHeight * data.series.length + "px";
  const most = Math.max(...data.marks.map((mark) => mark.x), ...data.series.flatMap((series) =>
    [series.points[0].x, series.high || 0, series.predicted || 0, ...series.published]));
  // Shifted down in their slots, so that the names have room above them.
  const values = data.series.map((series, index) => ({ x: [0, series.points[0].x], y: index }));
  return {
    type: "bar",
    data: { datasets: [{
      data: values, barThickness: 16, borderWidth: 2,
      borderColor: data.series.map((series) => series.colour),
      backgroundColor: data.series.map((series) =>
        series.verdict === "invalid" ? "transparent" : series.colour),
    }] },
    options: {
      indexAxis: "y",
      layout: { padding: { top: 6 + 17 * data.marks.length, right: 8 } },
      scales: {
        x: scale(data.x, colours, { min: 0, suggestedMax: most * 1.02 }),
        y: { type: "linear", reverse: true, min: -0.5, max: data.series.length - 0.5, display: false },
      },
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: {
          title: () => "",
          label: (item) => `${named(data.series[item.dataIndex])}: ${readable(data.series[item.dataIndex].points[0].x)}`,
        } },
      },
    },
    plugins: [{
      id: "extras",
      // The elements are moved before they are drawn, so pointing at them still finds them.
      beforeDatasetsDraw: (chart) => chart.getDatasetMeta(0).data.forEach((bar, index) => {
        bar.y = chart.scales.y.getPixelForValue(index) + 8;
      }),
      afterDatasetsDraw: (chart) => {
        drawMarks(chart, data.marks, colours);
        drawBarExtras(chart, data, colours);
      },
    }],
  };
}

function dataset(series, data, colours) {
  const isScatter = data.kind === "scatter";
  const marker = series.points.map((point) => (point.hollow ? colours.page : series.colour));
  return {
    label: named(series), data: series.points, showLine: !isScatter,
    yAxisID: series.second ? "second" : "y",
    borderColor: series.colour, borderWidth: 2, borderDash: kDashes[series.variant % kDashes.length],
    backgroundColor: series.second ? series.colour + "55" : series.colour,
    fill: series.second ? "origin" : false, stepped: series.second ? "before" : false,
    pointStyle: kMarkers[series.model] || "circle",
    pointRadius: !data.markers ? 0 : isScatter ? 4.5 : series.points.map((point) => (point.hollow ? 5 : 3.5)),
    pointBackgroundColor: marker, pointBorderColor: series.colour, pointBorderWidth: 2, pointHitRadius: 8,
  };
}

// Where lines of one model are told apart by their dashes, the legend shows lines.
function legend(data, colours) {
  const dashed = !data.second && (!data.markers || data.series.some((series) => series.variant > 0));
  const labels = { color: colours.ink, usePointStyle: true, boxWidth: 8, boxHeight: 7, padding: 9 };
  if (dashed) {
    labels.pointStyleWidth = 26;
    labels.generateLabels = (chart) => Chart.defaults.plugins.legend.labels.generateLabels(chart)
      .map((item) => Object.assign(item, { pointStyle: "line", lineWidth: 2.5,
                                           lineDash: chart.data.datasets[item.datasetIndex].borderDash }));
  }
  return { position: "bottom", align: "start", labels };
}

function lines(data, canvas, colours) {
  const scales = { x: scale(data.x, colours, {}), y: scale(data.y, colours, data.y.log ? {} : { min: 0 }) };
  if (data.x.categories.length > 0) Object.assign(scales.x, { min: 0, max: data.x.categories.length - 1 });
  if (data.second) {
    scales.second = scale(data.second, colours, { min: 0, position: "right", grid: { drawOnChartArea: false } });
  }
  const datasets = data.series.map((series) => dataset(series, data, colours));
  if (data.kind === "scatter") {
    const all = data.series.flatMap((series) => series.points.flatMap((point) => [point.x, point.y]));
    const ends = [Math.min(...all), Math.max(...all)];
    datasets.push({ label: "equal", data: ends.map((end) => ({ x: end, y: end })), showLine: true,
                    borderColor: colours.muted, borderDash: [4, 4], borderWidth: 1.5, pointRadius: 0,
                    pointStyle: "line" });
  }
  return {
    type: "scatter",
    data: { datasets },
    options: {
      layout: { padding: { top: 4 + 17 * data.marks.length, right: 4 } },
      scales,
      plugins: {
        legend: legend(data, colours),
        tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${readable(item.parsed.y)} at ` +
          (data.x.categories[item.parsed.x] || readable(item.parsed.x)) } },
      },
    },
    plugins: [{ id: "marks", afterDatasetsDraw: (chart) => drawMarks(chart, data.marks, colours) }],
  };
}

function draw() {
  drawn.forEach((chart) => chart.destroy());
  const colours = palette();
  drawn = [...document.querySelectorAll("figure[data-chart]")].map((figure) => {
    const data = charts[figure.dataset.chart];
    const canvas = figure.querySelector("canvas");
    return new Chart(canvas, (data.kind === "bars" ? bars : lines)(data, canvas, colours));
  });
  document.documentElement.dataset.charts = drawn.length;
}

Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.animation = false;
Chart.defaults.responsive = true;
Chart.defaults.maintainAspectRatio = false;
draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
matchMedia("print").addEventListener("change", draw);
// Paper has no summary to click on.
const folded = [...document.querySelectorAll("details")];
addEventListener("beforeprint", () => folded.forEach((part) => { part.open = true; }));
addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
