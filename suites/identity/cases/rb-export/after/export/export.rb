# Writes the bookings of a day for the accountants.
class Export
  def initialize(folder)
    @folder = folder
  end

  def write(day, bookings)
    file = File.open(File.join(@folder, "#{day}.csv"), "w")
    bookings.each { |booking| file.puts(booking.join(";")) }
    file.close
  end
end
