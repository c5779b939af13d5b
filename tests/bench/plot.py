# SPDX-License-Identifier: GPL-2.0-or-later
"""A plot of lines as SVG."""

import html

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 56, 20, 20, 48
COLOURS = ["#1f5fa8", "#b3611b", "#2e7d32", "#8e2464", "#5f5f5f", "#007a87", "#a08000", "#c62828"]


def nice(most):
    """The distance between lines of a grid: 1, 2 or 5 times a power of ten, with some eight lines at most."""
    step = 1.0
    while most / step < 4:
        step /= 10
    while True:
        for factor in (1, 2, 5):
            if most / (step * factor) <= 8:
                return step * factor
        step *= 10


class Plot:
    def __init__(self, x, y, end, most):
        """x, y: what the axes say. end, most: the largest values on them."""
        self.end, self.most = end or 1, most or 1
        self.named = 0
        self.out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
                    f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']
        self.__grid()
        self.__text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x, "middle")
        middle = (HEIGHT - BOTTOM + TOP) / 2
        self.out.append(f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle" fill="#333333">{html.escape(y)}</text>')

    def x(self, value):
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self.end

    def y(self, value):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.most

    def __text(self, x, y, text, anchor):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333333">{html.escape(text)}</text>')

    def __grid(self):
        for step, most, vertical in ((nice(self.most), self.most, False), (nice(self.end), self.end, True)):
            for n in range(int(most / step + 1e-9) + 1):
                value = n * step
                if vertical:
                    self.out.append(f'<path d="M{self.x(value):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#dddddd"/>')
                    self.__text(self.x(value), HEIGHT - BOTTOM + 16, f"{value:g}", "middle")
                else:
                    self.out.append(f'<path d="M{LEFT} {self.y(value):.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
                    self.__text(LEFT - 6, self.y(value) + 4, f"{value:g}", "end")

    def line(self, points, colour, width):
        text = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in points)
        self.out.append(f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="{width}"/>')

    def name(self, text, colour):
        """Add a row to the legend: what lines of this colour show."""
        at = TOP + 14 + 18 * self.named
        self.named += 1
        self.out.append(f'<path d="M{LEFT + 14} {at}h24" stroke="{colour}" stroke-width="2.5"/>')
        self.__text(LEFT + 44, at + 4, text, "start")

    def svg(self):
        return "\n".join([*self.out, "</svg>\n"])


def stairs(points):
    """Points of a line that holds each value until the next value."""
    out = []
    for x, y in points:
        if out:
            out.append([x, out[-1][1]])
        out.append([x, y])
    return out


def draw(x, y, series, steps):
    """A plot of each of the series, as text of an SVG file."""
    every = [point for points in series.values() for point in points]
    plot = Plot(x, y, max((point[0] for point in every), default=1), max((point[1] for point in every), default=1))
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        plot.line(stairs(points) if steps else points, colour, 2)
        plot.name(name, colour)
    return plot.svg()
