// SPDX-License-Identifier: BSD-3-Clause
// Drawing of a view with WebGL 2. Lengths are those of the sample over its longest edge.

const COMMON = `#version 300 es
precision highp float;precision highp int;precision highp sampler3D;
uniform mat4 eye;uniform vec3 size,reach,cut;uniform bvec3 cutOn;uniform sampler3D wallField,field;uniform sampler2D colours;uniform float top;
float wallAt(vec3 p){return texture(wallField,p/reach).r-128./255.;}
vec3 colourAt(vec3 p){return texture(colours,vec2(clamp(texture(field,p/reach).r/top,0.,1.)*255./256.+.5/256.,.5)).rgb;}
bool cutAway(vec3 p){return any(cutOn)&&(!cutOn.x||p.x>cut.x+1e-4)&&(!cutOn.y||p.y<cut.y-1e-4)&&(!cutOn.z||p.z>cut.z+1e-4);}
const vec3 STONE=vec3(.851,.78,.655),CUT=vec3(.722,.62,.478);
`;

// The wall: lit from the eye; gl_FrontFacing is seen from the fluid.
const WALL = [`in vec3 at,normal;out vec3 p,n;void main(){p=at*reach;n=normal;gl_Position=eye*vec4(p,1);}`,
`in vec3 p,n;out vec4 colour;uniform vec3 light;uniform bool fieldOnWall;
void main(){if(cutAway(p))discard;vec3 m=normalize(n);float lit=.38+.62*abs(dot(m,light));
colour=vec4((fieldOnWall?colourAt(p):STONE)*lit,1);}`];

// A plane across an axis: the field in the fluid, stone in the solid, the wall as a line. Sides of the sample are planes with stone alone.
const PLANE = [`uniform int axis;uniform float place;out vec3 p;void main(){vec2 c=vec2(gl_VertexID&1,gl_VertexID>>1);
p=axis==0?vec3(place,c*size.yz):axis==1?vec3(c.x*size.x,place,c.y*size.z):vec3(c*size.xy,place);gl_Position=eye*vec4(p,1);}`,
`in vec3 p;out vec4 colour;uniform bool side,solid,hasField;uniform int axis;
void main(){float w=wallAt(p);float steep=fwidth(w),line=steep>2e-4?1.-smoothstep(.5,1.3,abs(w)/steep):0.;
if(w>0.){if(side)discard;colour=vec4(hasField?colourAt(p):vec3(.75,.85,.95),1);}
else{if(!solid||(side&&cutAway(p)))discard;float lit=axis==0?.93:axis==1?.85:1.;colour=vec4(CUT*lit,1);}
if(!side)colour.rgb=mix(colour.rgb,vec3(.17,.15,.13),line*.8);}`];

// Streamlines: segments as strips that face the eye, shaded as tubes.
const TUBES = [`in vec3 a,b;uniform vec2 zoom,pixels;uniform float radius;out vec3 p;out float side;
void main(){bool last=(gl_VertexID&1)==1;side=float(gl_VertexID>>1)*2.-1.;p=(last?b:a)*reach;
vec4 A=eye*vec4(a*reach,1),B=eye*vec4(b*reach,1),P=last?B:A;vec2 d=(B.xy/B.w-A.xy/A.w)*pixels;d=length(d)>1e-6?normalize(d):vec2(1,0);
float r=max(radius*zoom.y*pixels.y*.5,.8*P.w);P.xy+=(vec2(-d.y,d.x)*side+d*(last?.6:-.6))*r*2./pixels;gl_Position=P;}`,
`in vec3 p;in float side;out vec4 colour;uniform bool hasField;
void main(){float n=sqrt(max(1.-side*side,0.));colour=vec4((hasField?colourAt(p):vec3(.22,.25,.3))*(.45+.55*n),1);}`];

const FRAME = [`void main(){int e=gl_VertexID>>1,d=e>>2,u=(d+1)%3,v=(d+2)%3;vec3 c;c[d]=float(gl_VertexID&1);c[u]=float(e&1);c[v]=float((e>>1)&1);
gl_Position=eye*vec4(c*size,1);}`, `out vec4 colour;void main(){colour=vec4(.36,.34,.31,1);}`];

class Drawing {
  constructor(canvas) {
    const gl = this.gl = canvas.getContext("webgl2", {antialias: true, alpha: false});
    if (!gl) throw new Error("This browser has no WebGL 2, which the picture needs.");
    this.canvas = canvas;
    this.programs = {wall: this.program(WALL), plane: this.program(PLANE), tubes: this.program(TUBES), frame: this.program(FRAME)};
    this.empty = gl.createVertexArray();
    this.textures = {};
    gl.enable(gl.DEPTH_TEST);
    gl.clearColor(1, 1, 1, 1);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  }

  program([vertex, fragment]) {
    const gl = this.gl, program = gl.createProgram(), places = {};
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, COMMON + text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error("The picture cannot be drawn here: " + gl.getProgramInfoLog(program));
    for (let n = 0; n < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); ++n) {
      const {name, type} = gl.getActiveUniform(program, n);
      places[name] = {at: gl.getUniformLocation(program, name), type};
    }
    return {program, places};
  }

  /// Values of uniforms by name; those that a program does not have are left out.
  set({places}, values) {
    const gl = this.gl, setters = {[gl.FLOAT]: "1f", [gl.FLOAT_VEC2]: "2fv", [gl.FLOAT_VEC3]: "3fv", [gl.BOOL]: "1i", [gl.BOOL_VEC3]: "3iv",
      [gl.INT]: "1i", [gl.SAMPLER_2D]: "1i", [gl.SAMPLER_3D]: "1i"};
    for (const [name, value] of Object.entries(values)) {
      const place = places[name];
      if (!place) continue;
      if (place.type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(place.at, false, value);
      else gl["uniform" + setters[place.type]](place.at, value);
    }
  }

  /// A texture in a unit: bytes of a volume, or of a row of colours.
  texture(unit, values, cells) {
    const gl = this.gl, kind = cells ? gl.TEXTURE_3D : gl.TEXTURE_2D;
    gl.activeTexture(gl.TEXTURE0 + unit);
    if (this.textures[unit]) gl.deleteTexture(this.textures[unit]);
    gl.bindTexture(kind, this.textures[unit] = gl.createTexture());
    if (cells) gl.texImage3D(kind, 0, gl.R8, ...cells, 0, gl.RED, gl.UNSIGNED_BYTE, values);
    else gl.texImage2D(kind, 0, gl.RGB8, 256, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, values);
    for (const [what, how] of [["MIN_FILTER", "LINEAR"], ["MAG_FILTER", "LINEAR"], ["WRAP_S", "CLAMP_TO_EDGE"], ["WRAP_T", "CLAMP_TO_EDGE"],
      ["WRAP_R", "CLAMP_TO_EDGE"]]) gl.texParameteri(kind, gl["TEXTURE_" + what], gl[how]);
  }

  /// Attributes of a program, [name, values, components, type, stride, offset, divisor]; returns a vertex array.
  arrays({program}, attributes, corners) {
    const gl = this.gl, vertices = gl.createVertexArray();
    gl.bindVertexArray(vertices);
    for (const [name, values, type, stride, offset, divisor] of attributes) {
      const place = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, type, true, stride, offset);
      gl.vertexAttribDivisor(place, divisor);
    }
    if (corners) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    }
    gl.bindVertexArray(null);
    return vertices;
  }

  /// @param points   x, y, z of each in 16 bits
  /// @param corners  of triangles
  wallOf(points, corners, reach) {
    const normals = new Float32Array(points.length), [X, Y, Z] = reach;
    for (let t = 0; t < corners.length; t += 3) {
      const [a, b, c] = [3 * corners[t], 3 * corners[t + 1], 3 * corners[t + 2]];
      const ux = (points[b] - points[a]) * X, uy = (points[b + 1] - points[a + 1]) * Y, uz = (points[b + 2] - points[a + 2]) * Z;
      const vx = (points[c] - points[a]) * X, vy = (points[c + 1] - points[a + 1]) * Y, vz = (points[c + 2] - points[a + 2]) * Z;
      const n = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
      for (const k of [a, b, c]) for (let d = 0; d < 3; ++d) normals[k + d] += n[d];
    }
    const {gl, programs} = this;
    return {vertices: this.arrays(programs.wall, [["at", points, gl.UNSIGNED_SHORT, 6, 0, 0], ["normal", normals, gl.FLOAT, 12, 0, 0]], corners),
      count: corners.length};
  }

  /// @param segments  two points each, in 16 bits
  linesOf(segments) {
    const {gl, programs} = this;
    return {vertices: this.arrays(programs.tubes, [["a", segments, gl.UNSIGNED_SHORT, 12, 0, 1], ["b", segments, gl.UNSIGNED_SHORT, 12, 6, 1]]),
      count: segments.length / 6};
  }

  begin(name, common) {
    this.gl.useProgram(this.programs[name].program);
    this.set(this.programs[name], common);
    return values => this.set(this.programs[name], values);
  }

  /// @param s  what is shown, see view.js
  draw(s) {
    const gl = this.gl, {canvas} = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const common = {eye: s.eye, size: s.size, reach: s.reach, cut: s.cut, cutOn: s.cutOn, top: s.top, wallField: 0, field: 1, colours: 2,
      hasField: s.hasField, light: s.light, zoom: s.zoom, pixels: [canvas.width, canvas.height], radius: s.radius, solid: s.solid};
    if (s.wall) {
      this.begin("wall", common)({fieldOnWall: s.fieldOnWall});
      if (!s.solid) gl.enable(gl.CULL_FACE);
      gl.bindVertexArray(s.wall.vertices);
      gl.drawElements(gl.TRIANGLES, s.wall.count, gl.UNSIGNED_INT, 0);
      gl.disable(gl.CULL_FACE);
    }
    gl.bindVertexArray(this.empty);
    const set = this.begin("plane", common), plane = (axis, place, side) => {
      set({axis, place, side});
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    };
    if (s.solid) for (let axis = 0; axis < 3; ++axis) for (const place of [0, s.size[axis]]) plane(axis, place, true);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(-1, -1);
    for (let axis = 0; axis < 3; ++axis) if (s.slices[axis]) plane(axis, s.cut[axis], false);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    this.begin("frame", common);
    gl.drawArrays(gl.LINES, 0, 24);
    if (s.lines) {
      this.begin("tubes", common)({hasField: s.hasField && !s.flat});
      if (s.flat) gl.disable(gl.DEPTH_TEST);
      gl.bindVertexArray(s.lines.vertices);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, s.lines.count);
      gl.enable(gl.DEPTH_TEST);
    }
    gl.bindVertexArray(null);
  }
}
