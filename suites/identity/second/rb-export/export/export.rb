# Writes the bookings of a day for the accountants.
class Export
  def initialize(folder)
    @folder = folder
  end

  def write(day, bookings)
    lines = bookings.map { |booking| booking.join(";") }
    File.write(File.join(@folder, "#{day}.csv"), lines.join("\n"))
  end
end
